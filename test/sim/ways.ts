/** Several steps that lead far in one go, which steps by chance seldom do. */
import { HOUR, MINUTE } from '#test/domain/records'
import { engagementIds, replies, WRITTEN } from './engaging.ts'
import { AMBIGUOUS, among, CLEAR, failures, type Next, type Step, someFate } from './history.ts'
import { bodies } from './texts.ts'
import { itemIds } from './world.ts'

const asked = (item: string, next: Next): Step =>
  next() < 0.5 ? { do: 'post', item } : { do: 'schedule', item, inMs: 0, onMissed: 'post' }

/** Nobody knows what became of it, and the timeline does not show it, or not yet. */
const doubtful = [
  '5xx, not posted',
  'dropped, not posted',
  'dropped, posted late',
  'dropped, posted very late',
]

const errors = ['5xx, not posted', '5xx, not posted', '5xx, posted late', '5xx, posted']

const engaged = (engagement: string, fate: string): Step[] => [
  { do: 'approve engagement', engagement },
  { do: 'execute', engagement },
  { do: 'send', fate, which: 'first' },
]

/** The next three transactions that matter fail, each once. */
const everyOther = ['no', 'before', 'no', 'before', 'no', 'before']

/**
 * A post that is too late is given back and claimed again in one commit, and the answer to that
 * commit is lost.
 */
const claimNotHeardOf = (item: string, next: Next): Step[] => [
  { do: 'approve', item },
  ...[
    { do: 'schedule', item, inMs: 0, onMissed: 'post' },
    { do: 'wait', ms: 11_000 },
  ],
  ...[
    {
      do: 'break database',
      letters: ['after', ...(next() < 0.3 ? everyOther : failures(14, next))],
    },
    { do: 'send', fate: someFate(next), which: 'first' as const },
  ],
]

const withdrawals = ['reopen', 'reopen', 'reject', 'delete', 'rewrite']

/**
 * Claimed and taken back, perhaps in commits that fail or are not heard of; then a draft again,
 * approved with another text, and sent.
 */
const takenBack = (item: string, next: Next): Step[] => [
  ...[{ do: 'approve', item }, asked(item, next)],
  ...(next() < 0.4 ? [{ do: 'break database', letters: failures(4, next) }] : []),
  ...(next() < 0.3
    ? [{ do: 'send', fate: someFate(next), which: 'first' as const, rush: true as const }]
    : []),
  ...[
    { do: among(withdrawals, next), item, body: bodies[3] },
    { do: 'restore', item },
    { do: 'reopen', item },
  ],
  ...[
    { do: 'approve', item, ...(next() < 0.7 ? { body: among(bodies, next) } : {}) },
    asked(item, next),
  ],
  { do: 'send', fate: someFate(next), which: among(['first', 'all'] as const, next) },
]

const engagementWithdrawals = [
  ...[
    'reopen engagement',
    'edit engagement',
    'edit engagement',
    'reject engagement',
    'delete engagement',
  ],
  'mark done',
]

/** The same with a reply, which is then approved and executed again, perhaps with another text. */
const replyTakenBack = (_: string, next: Next): Step[] => [
  ...[
    { do: 'approve engagement', engagement: WRITTEN },
    { do: 'execute', engagement: WRITTEN },
  ],
  ...(next() < 0.4 ? [{ do: 'break database', letters: failures(4, next) }] : []),
  ...(next() < 0.3
    ? [{ do: 'send', fate: someFate(next), which: 'first' as const, rush: true as const }]
    : []),
  ...[
    { do: among(engagementWithdrawals, next), engagement: WRITTEN, body: among(replies, next) },
    { do: 'restore engagement', engagement: WRITTEN },
    { do: 'reopen engagement', engagement: WRITTEN, body: '' },
  ],
  ...engaged(WRITTEN, someFate(next)),
]

/**
 * Nobody knows whether it was done; a person says that it was not, and then wants it back, or gone.
 */
const rejectedInDoubt = (_: string, next: Next): Step[] => {
  const engagement = among(engagementIds, next)
  return [
    ...[...engaged(engagement, among(doubtful, next)), { do: 'wait', ms: 70_000 }],
    { do: 'reject engagement', engagement, body: '' },
    { do: among(['reopen engagement', 'delete engagement'], next), engagement, body: '' },
  ]
}

const ways: ((item: string, next: Next) => Step[])[] = [
  (item, next) => [
    { do: 'approve', item },
    asked(item, next),
    { do: 'send', fate: someFate(next), which: 'first' },
  ],
  /** The same machine, for what is done with posts of others. */
  (_, next) => engaged(among(engagementIds, next), someFate(next)),
  (item) => [
    { do: 'approve', item },
    { do: 'schedule', item, inMs: 10 * MINUTE, onMissed: 'skip' },
    { do: 'unschedule', item },
  ],
  /** A doubtful send, and another one on a person's word. */
  (item, next) => [
    ...[
      { do: 'approve', item },
      asked(item, next),
      { do: 'send', fate: among(doubtful, next), which: 'first' as const },
    ],
    ...[
      { do: 'wait', ms: among([5_000, 11_000, 40_000], next) },
      { do: 'post again', item },
    ],
    ...[
      { do: 'wait', ms: among([1_000, 11_000, 20_000], next) },
      { do: 'send', fate: someFate(next), which: 'first' as const },
    ],
  ],
  /**
   * The network has answered with an error; when that has ended by itself, or nearly, somebody asks
   * again.
   */
  (item, next) => [
    { do: 'approve', item },
    ...[asked(item, next), { do: 'send', fate: among(errors, next), which: 'first' as const }],
    { do: 'wait', ms: among([110_000, 5 * MINUTE, 5 * MINUTE, 5 * MINUTE], next) },
    { do: 'see', view: { ...CLEAR, fails: among(['no', 'no', 'incomplete', 'error'], next) } },
    asked(item, next),
    ...[
      { do: 'send', fate: among([someFate(next), ...errors], next), which: 'first' as const },
      { do: 'wait', ms: among([1_000, 5 * MINUTE], next) },
      asked(item, next),
    ],
    { do: 'send', fate: someFate(next), which: 'first' },
  ],
  /**
   * What was superseded is posted when the item is posted already, and another one of the same text
   * in doubt.
   */
  (_, next) => [
    ...[
      { do: 'approve', item: 'item-0' },
      { do: 'post', item: 'item-0' },
      { do: 'send', fate: 'dropped, posted very late', which: 'first' },
    ],
    ...[
      { do: 'wait', ms: 40_000 },
      { do: 'post again', item: 'item-0' },
      { do: 'send', fate: someFate(next), which: 'first' },
    ],
    ...[
      { do: 'mark posted', item: 'item-0' },
      { do: 'approve', item: 'item-2' },
      { do: 'post', item: 'item-2' },
    ],
    ...[
      { do: 'send', fate: among(doubtful, next), which: 'first' },
      { do: 'wait', ms: HOUR },
    ],
  ],
  claimNotHeardOf,
  takenBack,
  replyTakenBack,
  rejectedInDoubt,
  /**
   * So too on a person's word, and the account is disconnected before the process hears what became
   * of it.
   */
  (item, next) => [
    ...[
      { do: 'approve', item },
      { do: 'post', item },
      { do: 'send', fate: '5xx, not posted', which: 'all' as const },
    ],
    ...[
      { do: 'wait', ms: 40_000 },
      { do: 'post again', item },
      { do: 'wait', ms: 11_000 },
    ],
    ...[
      { do: 'break database', letters: ['after', ...failures(6, next)] },
      { do: 'send', fate: someFate(next), which: 'first' as const },
    ],
    { do: 'disconnect' },
  ],
  /** One post is liked, and whether it was reposted nobody knows. */
  (_, next) => [
    ...engaged('engagement-0', among(['posted', '5xx, posted'], next)),
    ...engaged('engagement-1', among(doubtful, next)),
    { do: 'wait', ms: 70_000 },
  ],
  /** The first post does not show in time for the second to be held back: it stands before that. */
  (item, next) => [
    { do: 'see', view: { ...CLEAR, lagMs: 40_000 } },
    ...[
      { do: 'approve', item },
      asked(item, next),
      { do: 'send', fate: 'dropped, posted late', which: 'first' as const },
    ],
    { do: 'wait', ms: 20_000 },
    ...[
      { do: 'post again', item },
      { do: 'wait', ms: 20_000 },
      { do: 'send', fate: among(doubtful, next), which: 'first' as const },
    ],
    { do: 'see', view: CLEAR },
  ],
  /** What the timeline shows may be the post of either of two. */
  (_, next) => [
    { do: 'see', view: { ...CLEAR, cutAt: AMBIGUOUS } },
    ...['item-0', 'item-1'].flatMap((item) => [
      ...[
        { do: 'approve', item },
        { do: 'post', item },
      ],
      {
        do: 'send',
        fate: among(['dropped, posted', '5xx, posted'], next),
        which: 'first' as const,
      },
      { do: 'wait', ms: 11_000 },
    ]),
    ...[
      { do: 'wait', ms: 20_000 },
      { do: 'post again', item: 'item-0' },
      { do: 'wait', ms: 11_000 },
    ],
    { do: 'send', fate: someFate(next), which: 'first' },
  ],
  /**
   * The owner hangs between its claim and its send, and wakes in a world that went on without it.
   */
  (item, next) => [
    ...[{ do: 'approve', item }, asked(item, next), { do: 'hang' }],
    ...[among(meanwhile, next)(item), among(meanwhile, next)(item)],
    ...[
      { do: 'wake' },
      { do: 'send', fate: someFate(next), which: 'first' },
      { do: 'resume' },
      { do: 'connect', account: 'one' },
    ],
  ],
]
const meanwhile: ((item: string) => Step)[] = [
  (item) => ({ do: 'reopen', item }),
  (item) => ({ do: 'mark posted', item }),
  () => ({ do: 'pause' }),
  () => ({ do: 'disconnect' }),
  () => ({ do: 'wait', ms: 5_000 }),
]
const common = [
  ways[0]!,
  ways[0]!,
  ways[0]!,
  takenBack,
  takenBack,
  claimNotHeardOf,
  claimNotHeardOf,
  ...ways,
]

export const way = (next: Next): Step[] => among(common, next)(among(itemIds, next), next)
