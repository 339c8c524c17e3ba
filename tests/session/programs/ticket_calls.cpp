// Calls of a random program that wait for submissions and read them.
#include "tests/session/programs/random_program.h"

namespace reprise::testing {

void RandomProgram::read_ticket() {
  TicketOf* ticket = pick(tickets_);
  if (ticket == nullptr) {
    return;
  }
  if (ticket->run == nullptr) {
    call(ticket->name + ".read(nothing)", Outcome().unless(false, ErrorCode::released),
         [&] { (void)ticket->real.read<std::byte>("nothing"); });
    return;
  }
  const Run& run = *ticket->run;
  std::string name = "nothing";
  if (run.ran > 0 && !run.outputs[0].empty() && !chance(15)) {
    name = std::next(run.outputs[0].begin(),
                     static_cast<std::ptrdiff_t>(number(0, run.outputs[0].size() - 1)))
               ->first;
  }
  std::optional<std::uint32_t> iteration;
  if (chance(2)) {
    iteration = static_cast<std::uint32_t>(number(0, run.iterations));
  }
  expect_output(
      run, name, iteration,
      ticket->name + ".read(" + name + (iteration ? ", " + std::to_string(*iteration) : "") + ")",
      [&] {
        return iteration ? ticket->real.read<std::byte>(name, *iteration)
                         : ticket->real.read<std::byte>(name);
      });
  completed(*ticket->run);
}

void RandomProgram::ask_ticket() {
  TicketOf* ticket = pick(tickets_);
  if (ticket == nullptr) {
    return;
  }
  const RunRef run = ticket->run;
  const Outcome held = Outcome().unless(run != nullptr, ErrorCode::released);
  switch (number(0, 4)) {
    case 0: {
      bool done = false;
      call(ticket->name + ".done()", held, [&] { done = ticket->real.done(); });
      if (!done) {
        return;  // so it is not known to be complete
      }
      break;
    }
    case 1:
      call(ticket->name + ".wait()", held, [&] { ticket->real.wait(); });
      break;
    case 2: {
      std::uint32_t ran = 0;
      if (call(ticket->name + ".iterations()", held, [&] { ran = ticket->real.iterations(); })) {
        require(ran == run->ran,
                "gave " + std::to_string(ran) + ", not " + std::to_string(run->ran));
      }
      break;
    }
    default: {
      const std::size_t word = number(0, 5);
      std::optional<std::uint32_t> iteration;
      if (chance(2)) {
        iteration = static_cast<std::uint32_t>(number(0, 3));
      }
      std::int32_t value = 0;
      Outcome outcome = held;
      if (run != nullptr) {
        outcome.unless(run->state != nullptr && word < kStateWords, ErrorCode::unknown_name);
        outcome.unless(!iteration || *iteration < run->ran);
      }
      if (call(ticket->name + ".state(" + kFields[word] +
                   (iteration ? ", " + std::to_string(*iteration) : "") + ")",
               outcome, [&] {
                 value = iteration ? ticket->real.state(kFields[word], *iteration)
                                   : ticket->real.state(kFields[word]);
               })) {
        const std::int32_t expected =
            iteration ? run->words[*iteration][word] : run->last_words[word];
        require(value == expected,
                "gave " + std::to_string(value) + ", not " + std::to_string(expected));
      }
    }
  }
  if (run != nullptr) {
    completed(*run);
  }
}

void RandomProgram::release_ticket() {
  if (TicketOf* ticket = pick(tickets_)) {
    call(ticket->name + ".release()", {}, [&] { ticket->real.release(); });
    if (ticket->run != nullptr && ticket->use != nullptr) {
      --ticket->use->held;
      ticket->use->perhaps_busy += ticket->run->known ? 0U : 1U;
    }
    ticket->run = nullptr;
    if (chance(2)) {
      tickets_.erase(tickets_.begin() + (ticket - tickets_.data()));
    }
  }
}

void RandomProgram::move_ticket() {
  TicketOf* from = pick(tickets_);
  if (from == nullptr || from->run == nullptr) {
    return;
  }
  TicketOf to{from->name + "'", std::move(from->real), std::exchange(from->run, nullptr),
              from->use};
  calls_.push_back(to.name + " = std::move(" + from->name + ")");
  tickets_.push_back(std::move(to));
}

}  // namespace reprise::testing
