/** Mistakes in looking for due work and in claiming it, above all beside an outcome. */
import type { Mutant } from './mutant.ts'

const alarm = 'actors/engine/alarm.ts'
const claims = 'actors/engine/claimer.ts'
const deciding = 'actors/engine/decide-letter.ts'
const runner = 'actors/engine/lane-runner.ts'

export const claimingMutants: Mutant[] = [
  {
    name: 'an account sends two at once',
    file: claims,
    from: 'running: [...this.live.running(), ...this.#claimed]',
    to: "running: [...this.live.running(), ...this.#claimed].map((work) => ({ ...work, concurrency_key: '' }))",
  },
  { name: 'the pause holds no claim beside an outcome', file: claims, from: 'paused: gate.paused', to: 'paused: false' },
  {
    name: 'a claim beside an outcome that was not heard of is left running',
    file: runner,
    from: 'return tries === 1',
    to: 'return true',
  },
  {
    name: 'a claim beside an outcome is made while a pause waits',
    file: deciding,
    from: 'deps.isUrgent() || deps.isOver()',
    to: 'deps.isOver()',
  },
  {
    name: 'an outcome is lost with the claim beside it',
    file: deciding,
    from: 'return { decision }\n  } catch (cause) {\n    return { cause }',
    to: 'return { decision }\n  } catch (cause) {\n    throw cause',
  },
  {
    name: 'a row that a letter adds for later is forgotten',
    file: alarm,
    from: 'return Math.min(...[...work, ...requeued].map((row) => this.#dueTimeOf(row, now)))',
    to: 'return Number.POSITIVE_INFINITY',
  },
  {
    name: 'what waits for a key is forgotten',
    file: 'actors/engine/claim.ts',
    from: 'reply: { start }, looked: { next: wait, rest } }',
    to: 'reply: { start }, looked: { next: undefined, rest: undefined } }',
  },
  {
    name: 'a resume wakes nobody',
    file: alarm,
    from: 'if (paused === false) return UNKNOWN',
    to: '',
  },
]
