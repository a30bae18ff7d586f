# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes beside the server that FAULT's up-calls tell of."""

import random
import threading

from coherence.pathclients import STEPS, Outside
from faultctl import FaultError
from harness.answers import OK

EXPORT = 1
# What the up-call says: each is told as if names and attributes had changed,
# an object that gets or loses a name as if everything had.
CHANGED, EVERYTHING = "attrs,content", "cache"


class Told(Outside):
    """Each change is told before its answer is given.

    helper: a HandleClient of its own; up-calls are made for its handles.
    """

    able = STEPS

    def __init__(self, root, helper, control, share=6):
        super().__init__(root, share)
        self.name = "outside, told"
        self._helper, self._control = helper, control

    def forget(self, number):
        self._helper.forget(number)

    def prepare(self, step, model):
        touched = {step[key]: CHANGED
                   for key in ("node", "directory", "to_directory")
                   if key in step}
        for directory, name in (("directory", "name"),
                                ("to_directory", "to_name")):
            if directory in step and name in step:
                child = model.nodes[step[directory]].children.get(step[name])
                if child is not None:
                    touched[child] = EVERYTHING
        told = [(self._helper.handle(number, model), flags)
                for number, flags in touched.items()]
        perform = super().prepare(step, model)

        def change():
            reply = perform()
            if reply.status == OK:
                for handle, flags in told:
                    self._control.invalidate(EXPORT, handle, flags)
            return reply

        return change

    def stop(self):
        self._helper.stop()
        self._control.close()


class Noise(threading.Thread):
    """Up-calls for objects that have not changed, until stop()."""

    PAUSE = 0.003

    def __init__(self, control, handles):
        super().__init__(daemon=True)
        self._control, self._handles = control, handles
        self._end = threading.Event()
        self.error = None
        self.start()

    def run(self):
        rng = random.Random(1)
        while not self._end.wait(self.PAUSE):
            handle = rng.choice(list(self._handles.values()))
            flags = rng.choice(("attrs", CHANGED, EVERYTHING))
            try:
                self._control.invalidate(EXPORT, handle, flags)
            except FaultError:
                pass    # it is gone
            except OSError as error:
                self.error = error
                return

    def stop(self):
        """No more of them; raises what ended them before."""
        self._end.set()
        self.join()
        self._control.close()
        if self.error:
            raise self.error
