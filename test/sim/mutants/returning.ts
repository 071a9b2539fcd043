/** Mistakes with doubts that end by themselves. */
import { type Mutant, mutantsOf } from './mutant.ts'

const returning = 'src/domain/growth/sending/returning.ts'
const readBack = 'actors/work/growth/read-back.ts'

export const returningMutants: Mutant[] = [
  ...mutantsOf(returning, [
    ['reads count while the network may still apply it', 'proof.begunAt >= from ? 1 : 0', '1'],
  ]),
  ...mutantsOf('src/domain/growth/sending/send.ts', [
    [
      'a time-out is taken for an error of the network',
      "cause === 'server_error' && appliesWithinMs",
      "cause !== 'process_stopped' && appliesWithinMs",
    ],
    [
      'what a dead process left counts as answered',
      "doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)",
      "doubt({ ...sent, appliesWithinMs: 90_000 }, { reason: PROCESS_STOPPED, cause: 'server_error' }, from)",
    ],
  ]),
  ...mutantsOf('actors/work/growth/send.ts', [
    ['an item is returned again and again', 'isDoubted || fingerprintText', 'fingerprintText'],
  ]),
  ...mutantsOf(returning, [
    ['one read proves it', 'proof_reads < times.cleanReads', 'proof_reads < 1'],
  ]),
  ...mutantsOf('actors/work/growth/reconcile.ts', [
    [
      'reads that decide nothing prove it',
      'return decisionOf(afterFailedRead(found, outcome.retryAfterMs), work)',
      `return decisionOf(clearRead(found, { begunAt: job.begunAt, isClear: true,
      appliesWithinMs: appliesWithin(deps.networks.named(job.connection.network)!.limits) }), work)`,
    ],
    [
      'a read that may show it proves that it is not there',
      'isClear: !mayBeThere',
      'isClear: true',
    ],
  ]),
  ...mutantsOf('src/port/network/network.ts', [
    [
      'nobody has to promise anything',
      'completeReadBack && maxApplyMs !== null ? maxApplyMs : undefined',
      'maxApplyMs ?? 90_000',
    ],
  ]),
  ...mutantsOf('src/domain/growth/sending/post.ts', [
    [
      'what was returned goes out again by itself',
      '...{ ...unscheduled, last_error: reason',
      '...{ ...unscheduled, post_at: now, last_error: reason',
    ],
  ]),
  ...mutantsOf('actors/work/growth/send.ts', [
    [
      'what was returned is sent again unread',
      'if (!readBack) return',
      'if (!readBack || deps) return',
    ],
  ]),
  ...mutantsOf(readBack, [
    [
      'what was returned is sent again after a read that failed',
      "return { stop: { kind: 'not_applied', reason, detail",
      "return { resources }\n  return { stop: { kind: 'not_applied', reason, detail",
    ],
  ]),
]
