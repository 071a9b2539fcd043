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
      "cause === 'server_error' && within !== undefined",
      "cause !== 'process_stopped' && within !== undefined",
    ],
    [
      'what a dead process left counts as answered',
      "doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)",
      "doubt({ ...sent, appliesWithinMs: 90_000 }, { reason: PROCESS_STOPPED, cause: 'server_error' }, from)",
    ],
  ]),
  ...mutantsOf('actors/work/growth/send.ts', [
    [
      'an item is returned again and again',
      '!meansOf[$sendable].endsByItself || isDoubted',
      '!meansOf[$sendable].endsByItself',
    ],
  ]),
  ...mutantsOf(returning, [
    ['one read proves it', 'proof_reads < times.cleanReads', 'proof_reads < 1'],
  ]),
  ...mutantsOf('actors/work/growth/reconcile.ts', [
    [
      'reads that decide nothing prove it',
      `if (outcome.kind === 'unread') {
        $$again
        return decisionOf(afterFailedRead(unread, outcome.retryAfterMs), work)
      }
      $$seen
      const network = deps.networks.named(job.connection.network)
      const within = network && appliesWithin(network.limits)
      const settled = clearRead(found, { begunAt: job.begunAt, $$how })`,
      `if (outcome.kind === 'unread') {
        $$again
        const { limits } = deps.networks.named(job.connection.network)!
        const proof = { begunAt: job.begunAt, isClear: true, appliesWithinMs: appliesWithin(limits) }
        return decisionOf(clearRead(unread, proof), work)
      }
      $$seen
      const network = deps.networks.named(job.connection.network)
      const within = network && appliesWithin(network.limits)
      const settled = clearRead(found, { begunAt: job.begunAt, $$how })`,
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
      `({
        ...item,
        ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
        ...unscheduled,
        last_error: reason,
        updated_at: now
      })`,
      `({
        ...item,
        ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
        ...unscheduled,
        post_at: now,
        last_error: reason,
        updated_at: now
      })`,
    ],
  ]),
  ...mutantsOf('actors/work/growth/send.ts', [
    [
      'what was returned is sent again unread',
      'if (!readBack) return sendOnce(deps, job, context)',
      'if (!readBack || deps) return sendOnce(deps, job, context)',
    ],
  ]),
  ...mutantsOf(readBack, [
    [
      'what was returned is sent again after a read that failed',
      "return { stop: { kind: 'not_applied', reason, $$ }, resources }",
      'return { resources }',
    ],
  ]),
]
