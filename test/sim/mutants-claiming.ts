/** Mistakes in looking for due work and in claiming it, above all beside an outcome. */
import type { Mutant } from './mutant.ts'

const alarm = 'actors/engine/alarm.ts'
const claims = 'actors/engine/claimer.ts'
const deciding = 'actors/engine/decide-letter.ts'
const runner = 'actors/engine/lane-runner.ts'
const sending = 'actors/work/growth/send.ts'
const sendClaims = 'actors/work/growth/claim-send.ts'

export const claimingMutants: Mutant[] = [
  {
    name: 'an account sends two at once',
    file: claims,
    from: '[...this.live.running(), ...this.#claimed]',
    to: "[...this.live.running(), ...this.#claimed].map((work) => ({ ...work, concurrency_key: '' }))",
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
    name: 'a claim ahead of any outcome',
    file: sending,
    from: "outcome.kind === 'posted' && !againOf(work) && !job.readBack",
    to: 'true',
  },
  {
    name: 'a claim ahead of a record that may have been sent',
    file: sendClaims,
    from: ' || tries!.doubted > 0) return undefined',
    to: ') return undefined',
  },
  {
    name: 'a claim ahead of what was missed',
    file: sendClaims,
    from: ' || mayBeMissed(deps, claiming, record)) return undefined',
    to: ') return undefined',
  },
  {
    name: 'a claim ahead beside a doubtful post of the account',
    file: sendClaims,
    from: ' || account?.has_open_posts',
    to: '',
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
