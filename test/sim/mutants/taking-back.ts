/** Mistakes in what takes an item back that is about to be sent. */
import { type Mutant, mutantsOf } from './mutant.ts'

const takeBack = 'src/decisions/growth/take-back.ts'
const moves = 'src/domain/growth/drafting/item-moves.ts'
const engagementMoves = 'src/domain/growth/drafting/engagement-moves.ts'
const engagementLife = 'src/ops/growth/engagement-life.ts'

export const takingBackMutants: Mutant[] = [
  ...mutantsOf(takeBack, [
    [
      'what is on the wire is taken back',
      'lanes.recall(({ id, attempt: claimed }) => id === send.id && claimed === send.attempt).length > 0',
      'true',
    ],
    [
      'what is about to be sent is never taken back',
      'lanes.recall(({ id, attempt: claimed }) => id === send.id && claimed === send.attempt).length > 0',
      'false',
    ],
    ['the send of what was taken back waits on', 'settled: [send.id],', ''],
    [
      'the attempt of what was taken back stays open',
      "attempt ? [saveAttempt(ended(attempt, 'unsent', now))] : []",
      '[]',
    ],
    [
      'a post in doubt is reopened',
      `if (moves.isUnconfirmed(record)) moves.refuse($$refused)
      if ($idle) return { next: decide(record), $$nothing }`,
      `if (moves.isUnconfirmed(record)) return { next: decide({ ...record, status: 'approved' } as never), $$nothing }
      if ($idle) return { next: decide(record), $$nothing }`,
    ],
  ]),
  ...mutantsOf(moves, [
    ['what was on the network for a while is deleted', "if (wasSent) fail('conflict', $)", ''],
  ]),
  ...mutantsOf(takeBack, [
    [
      'what another process has claimed counts as waiting',
      `if (send.state === 'queued') return !attempt
      $$others
      return lanes.recall($isIt).length > 0`,
      `if (send.state === 'queued' || lanes.recall(({ id }) => id === send.id).length === 0) return true
      $$others
      return lanes.recall($isIt).length > 0`,
    ],
  ]),
  ...mutantsOf(engagementMoves, [
    [
      'an edited engagement keeps its approval',
      '({ ...withWords(engagement, words), ...unapproved, $$rest })',
      '({ ...withWords(engagement, words), $$rest })',
    ],
  ]),
  ...mutantsOf(engagementLife, [
    [
      'an engagement is edited while it is sent, and the send goes on',
      'saveBack(before, takeBack($$, (one) => editEngagement(one, words)))',
      `saveBack(before, {
        next: editEngagement({ ...before, status: 'approved' }, words), effects: {}, answers: [],
      })`,
    ],
  ]),
  ...mutantsOf(engagementMoves, [
    ['what may have been done is deleted', "if (wasSent) fail('conflict', $)", ''],
  ]),
  ...mutantsOf(engagementLife, [
    [
      'an engagement that was rejected in doubt is reopened',
      "if (before.status === 'rejected' && sent) fail('conflict', $)",
      '',
    ],
  ]),
  ...mutantsOf('src/domain/growth/drafting/engagement-states.ts', [
    [
      'an engagement that is about to be sent is marked done',
      "'mark done': { from: [$$states], to: 'executed' }",
      "'mark done': { from: ['executing', $$states], to: 'executed' }",
    ],
  ]),
  ...mutantsOf('src/domain/growth/sending/send.ts', [
    [
      'a post with an earlier text is said to have the present one',
      'attempt.sent_text !== null && attempt.sent_text !== moves.textOf(record)',
      'attempt.sent_text !== null && false',
    ],
  ]),
]
