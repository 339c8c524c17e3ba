"""What people open the debugger for, and how many clicks and keys it takes from the first screen."""
from desktop import DATA, WindowTest, main


class Tasks(WindowTest):
    def takes(self, window, actions):
        self.assertLessEqual(window.inputs, actions)

    def test_the_slowest_op_and_its_source_line_take_two_actions(self):
        window = self.open(self.copy("stories260K.db"), "--source", DATA)
        window.click(window.first("inspector/all/slowest/node/"))
        window.expect("inspector/all/title", "#88 matmul")
        window.expect("inspector/all/source", "forward.cpp:57")
        window.expect("inspector/all/time/p50", "97.5 µs")
        self.takes(window, 2)

    def test_the_costliest_barrier_and_why_it_is_there_take_three_actions(self):
        window = self.open(self.copy("stories260K.db"))
        window.click("tab/barriers")
        first = window.first("barriers/table/row/")
        window.click(first)
        window.expect(first + "/cost", "14.0")
        window.expect(first + "/cause", "#10 attention")
        window.expect(first + "/reason", "attention (layer.0/attn) wrote")
        window.expect("inspector/all/title", "#11 matmul")
        self.takes(window, 3)

    def test_what_lives_at_the_peak_takes_two_actions(self):
        window = self.open(self.copy("stories260K.db"))
        window.key("ctrl+alt+4")
        window.expect("memory/peak_title", "At the peak: 2.50 KiB of the arena")
        window.expect("memory/peak_list/row/18", "blk.0.k_cache  64.0 KiB")
        window.click("memory/peak")
        window.expect("inspector/all/title", "62 nodes")
        self.takes(window, 2)

    def test_the_first_nan_and_the_element_take_three_actions(self):
        window = self.open(self.copy("after.db"), "--against", self.copy("before.db"))
        window.key("ctrl+alt+3")
        window.key("n")
        window.expect("tensors/tensor", "#78 add")
        window.expect("tensors/all/statistics/nan/one", "48")
        window.expect("tensors/all/statistics/count/one", "48")  # each of its elements
        self.takes(window, 3)

    def test_the_first_nan_of_the_demo_is_shown_with_its_element_after_two_actions(self):
        window = self.open("--demo")
        window.key("ctrl+alt+3")
        window.key("n")
        window.expect("tensors/tensor", "#78 add")
        window.expect("tensors/all/values/first_not_finite", "first nan at [0, 0]")
        self.takes(window, 2)

    def test_two_runs_their_totals_and_the_first_cause_take_three_actions(self):
        window = self.open(self.copy("after.db"), "--against", self.copy("before.db"))
        window.click("tab/diff")
        for side in ("a", "b"):
            self.assertRegex(window.text(f"diff/{side}"), "^p50 .* µs")
        first = window.first("diff/table/row/")
        window.click(first)
        window.expect(first + "/change", "slower")
        window.expect("inspector/all/title", "#79 kernel:soft_limit")
        self.takes(window, 3)


main()
