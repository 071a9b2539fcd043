/** Mistakes with doubts that end by themselves. */
import type { Mutant } from './mutant.ts'

const returning = 'src/domain/growth/sending/returning.ts'
const readBack = 'actors/work/growth/read-back.ts'

export const returningMutants: Mutant[] = [
  { name: 'reads count while the network may still apply it', file: returning, from: 'proof.begunAt >= from ? 1 : 0', to: '1' },
  {
    name: 'a time-out is taken for an error of the network',
    file: 'src/domain/growth/sending/send.ts',
    from: "cause === 'server_error' && appliesWithinMs",
    to: "cause !== 'process_stopped' && appliesWithinMs",
  },
  {
    name: 'what a dead process left counts as answered',
    file: 'src/domain/growth/sending/send.ts',
    from: "doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)",
    to: "doubt({ ...sent, appliesWithinMs: 90_000 }, { reason: PROCESS_STOPPED, cause: 'server_error' }, from)",
  },
  {
    name: 'an item is returned again and again',
    file: 'actors/work/growth/send.ts',
    from: 'isDoubted || fingerprintText',
    to: 'fingerprintText',
  },
  { name: 'one read proves it', file: returning, from: 'proof_reads < times.cleanReads', to: 'proof_reads < 1' },
  {
    name: 'reads that decide nothing prove it',
    file: 'actors/work/growth/reconcile.ts',
    from: 'return decisionOf(afterFailedRead(found, outcome.retryAfterMs), work)',
    to: `return decisionOf(clearRead(found, { begunAt: job.begunAt, isClear: true,
      appliesWithinMs: appliesWithin(deps.networks.named(job.connection.network)!.limits) }), work)`,
  },
  {
    name: 'a read that may show it proves that it is not there',
    file: 'actors/work/growth/reconcile.ts',
    from: 'isClear: !mayBeThere',
    to: 'isClear: true',
  },
  {
    name: 'nobody has to promise anything',
    file: 'src/port/network/network.ts',
    from: 'completeReadBack && maxApplyMs !== null ? maxApplyMs : undefined',
    to: 'maxApplyMs ?? 90_000',
  },
  {
    name: 'what was returned goes out again by itself',
    file: 'src/domain/growth/sending/post.ts',
    from: '...{ ...unscheduled, last_error: reason',
    to: '...{ ...unscheduled, post_at: now, last_error: reason',
  },
  {
    name: 'what was returned is sent again unread',
    file: 'actors/work/growth/send.ts',
    from: 'if (!readBack) return',
    to: 'if (!readBack || deps) return',
  },
  {
    name: 'what was returned is sent again after a read that failed',
    file: readBack,
    from: "return { stop: { kind: 'not_applied', reason, detail",
    to: "return { resources }\n  return { stop: { kind: 'not_applied', reason, detail",
  },
]
