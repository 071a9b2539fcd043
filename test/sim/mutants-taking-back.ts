/** Mistakes in what takes an item back that is about to be sent. */
import type { Mutant } from './mutant.ts'

const takeBack = 'src/decisions/growth/take-back.ts'
const moves = 'src/domain/growth/drafting/item-moves.ts'
const engagementMoves = 'src/domain/growth/drafting/engagement-moves.ts'
const engagementLife = 'src/ops/growth/engagement-life.ts'

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
  {
    name: 'an edited engagement keeps its approval',
    file: engagementMoves,
    from: 'return { ...withWords(engagement, words), ...unapproved,',
    to: 'return { ...withWords(engagement, words),',
  },
  {
    name: 'an engagement is edited while it is sent, and the send goes on',
    file: engagementLife,
    from: "const back = takeBack(context, { moves, record: before, ...way, action: 'edit' })",
    to: "const back = { record: { ...before, status: 'approved' as const }, end: () => ({ effects: {}, answers: [] }) }",
  },
  {
    name: 'what may have been done is deleted',
    file: engagementMoves,
    from: "if (wasSent) fail('conflict', 'cannot delete",
    to: "if (wasSent && !now) fail('conflict', 'cannot delete",
  },
  {
    name: 'an engagement that was rejected in doubt is reopened',
    file: engagementLife,
    from: "if (before.status === 'rejected' && sent)",
    to: "if (before.status === 'rejected' && sent && !before)",
  },
  {
    name: 'an engagement that is about to be sent is marked done',
    file: engagementMoves,
    from: "const DOABLE: readonly Engagement['status'][] = ['drafted',",
    to: "const DOABLE: readonly Engagement['status'][] = ['executing', 'drafted',",
  },
  {
    name: 'a post with an earlier text is said to have the present one',
    file: 'src/domain/growth/sending/send.ts',
    from: 'attempt.sent_text !== null && attempt.sent_text !== moves.textOf(record)',
    to: 'attempt.sent_text !== null && false',
  },
]
