/** Mistakes in what takes an item back that is about to be sent. */
import type { Mutant } from './mutant.ts'

const takeBack = 'src/decisions/growth/take-back.ts'
const moves = 'src/domain/growth/drafting/item-moves.ts'

export const takingBackMutants: Mutant[] = [
  {
    name: 'what is on the wire is taken back',
    file: takeBack,
    from: 'return lanes.recall(({ id, attempt: claimed }) => id === send.id && claimed === send.attempt).length > 0',
    to: 'return true',
  },
  {
    name: 'what is about to be sent is never taken back',
    file: takeBack,
    from: 'return lanes.recall(({ id, attempt: claimed }) => id === send.id && claimed === send.attempt).length > 0',
    to: 'return false',
  },
  { name: 'the send of what was taken back waits on', file: takeBack, from: 'settled: [send.id],', to: '' },
  {
    name: 'the attempt of what was taken back stays open',
    file: takeBack,
    from: "...(attempt ? [saveAttempt(ended(attempt, 'unsent', now))] : [])",
    to: '...[]',
  },
  {
    name: 'a post in doubt is reopened',
    file: takeBack,
    from: 'if (moves.isUnconfirmed(record)) inDoubt(moves, record, action)\n  if (!send && !moves.isSending(record)) return { record, end: nothing }',
    to: "if (moves.isUnconfirmed(record)) return { record: { ...record, status: 'approved' } as never, end: nothing }\n  if (!send && !moves.isSending(record)) return { record, end: nothing }",
  },
  {
    name: 'what was on the network for a while is deleted',
    file: moves,
    from: "if (wasSent) fail('conflict', 'cannot delete",
    to: "if (wasSent && !now) fail('conflict', 'cannot delete",
  },
  {
    name: 'what another process has claimed counts as waiting',
    file: takeBack,
    from: "if (send.state === 'queued') return !attempt",
    to: "if (send.state === 'queued' || lanes.recall(({ id }) => id === send.id).length === 0) return true",
  },
]
