/** Mistakes in looking for due work and in claiming it, above all beside an outcome. */
import { type Mutant, mutantsOf } from './mutant.ts'

const alarm = 'actors/engine/alarm.ts'
const claims = 'actors/engine/claimer.ts'
const deciding = 'actors/engine/decide-letter.ts'
const settler = 'actors/engine/settler.ts'
const trials = 'actors/engine/claim-trials.ts'
const sending = 'actors/work/growth/send.ts'
const sendClaims = 'actors/work/growth/claim-send.ts'

export const claimingMutants: Mutant[] = [
  ...mutantsOf(trials, [
    [
      'an account sends two at once',
      '[...this.running(), ...this.#claimed]',
      "[...this.running(), ...this.#claimed].map((work) => ({ ...work, concurrency_key: '' }))",
    ],
  ]),
  ...mutantsOf(claims, [
    ['the pause holds no claim beside an outcome', 'paused: gate.paused', 'paused: false'],
  ]),
  ...mutantsOf(settler, [
    [
      'a claim beside an outcome that was not heard of is left running',
      'return tries === 1',
      'return true',
    ],
  ]),
  ...mutantsOf(deciding, [
    [
      'a claim beside an outcome is made while a pause waits',
      'deps.isUrgent() || deps.isOver()',
      'deps.isOver()',
    ],
    [
      'an outcome is lost with the claim beside it',
      `try { $$decide
 return { decision } } catch (cause) { return { cause } }`,
      `try { $$decide
 return { decision } } catch (cause) { throw cause }`,
    ],
  ]),
  ...mutantsOf(sending, [
    [
      'a claim ahead of any outcome',
      "outcome.kind === 'posted' && !againOf(work) && !job.readBack",
      'true',
    ],
  ]),
  ...mutantsOf(sendClaims, [
    [
      'a claim ahead of a record that may have been sent',
      '$others || tries!.doubted > 0',
      '$others',
    ],
    [
      'a claim ahead of what was missed',
      '!$moves.isWaiting($$of) || mayBeMissed($$)',
      '!$moves.isWaiting($$of)',
    ],
    [
      'a claim ahead beside a doubtful post of the account',
      '$others || account?.has_open_posts',
      '$others',
    ],
  ]),
  ...mutantsOf(alarm, [
    [
      'a row that a letter adds for later is forgotten',
      'return Math.min(...[...work, ...requeued].map((row) => this.#dueTimeOf(row, now)))',
      'return Number.POSITIVE_INFINITY',
    ],
  ]),
  ...mutantsOf('actors/engine/claim.ts', [
    [
      'what waits for a key is forgotten',
      'reply: { start }, polled: { next: wait, dueIn }',
      'reply: { start }, polled: { next: undefined, dueIn: undefined }',
    ],
  ]),
  ...mutantsOf(alarm, [['a resume wakes nobody', 'if (paused === false) return UNKNOWN', '']]),
]
