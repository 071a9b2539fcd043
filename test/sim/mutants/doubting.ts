/** Mistakes with posts in doubt: when the timeline is read, and what a read of it decides. */
import { type Mutant, mutantsOf } from './mutant.ts'

const send = 'src/domain/growth/sending/send.ts'
const reconcile = 'src/domain/growth/sending/reconcile.ts'

export const doubtingMutants: Mutant[] = [
  ...mutantsOf('actors/work/growth/send.ts', [
    [
      'the timeline is read before the lease ends',
      'new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))',
      'new Date(now)',
    ],
  ]),
  ...mutantsOf(send, [
    ['the timeline is read at once', 'from.getTime() + times.settleMs', 'from.getTime()'],
  ]),
  ...mutantsOf(reconcile, [
    [
      'one clean read is enough',
      '!record.review && !isEnough(read, clean_reads)',
      '!record.review && clean_reads < 1',
    ],
  ]),
  ...mutantsOf('actors/work/growth/timeline.ts', [
    [
      'an incomplete read counts',
      "if (!complete) return { kind: 'unread', resources: posts.length }",
      '',
    ],
  ]),
  ...mutantsOf('actors/work/growth/reconcile.ts', [
    [
      'doubt is looked up by the text that the item has now',
      'identify(sql, { record, attempt, connection: $connection }, outcome)',
      'identify(sql, { record, attempt: { ...attempt, sent_text: record.body }, connection: $connection }, outcome)',
    ],
  ]),
  ...mutantsOf(reconcile, [
    [
      'a post of another item is taken',
      'const candidates = posts.filter((post) => post.createdAt.getTime() >= since && !taken.has(post.externalId))',
      'const candidates = posts.filter((post) => post.createdAt.getTime() >= since)',
    ],
    [
      'only later posts are looked at',
      '(steppedBack ? $doubt : $intent.getTime()) - CLOCK_SKEW_MS',
      '(steppedBack ? $doubt : $intent.getTime()) + CLOCK_SKEW_MS',
    ],
    [
      'after review nobody looks',
      'const at = nextRead(read, clean_reads)',
      'const at = clean_reads < read.times.cleanReads ? nextRead(read, clean_reads) : undefined',
    ],
  ]),
  ...mutantsOf(send, [
    [
      'a person is asked again and again',
      'events: record.review ? [] : [moves.reviewEvent(record)]',
      'events: [moves.reviewEvent(record)]',
    ],
  ]),
]
