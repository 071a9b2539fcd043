/**
 * Mistakes that somebody could make, one change of the source each: the simulation must find every
 * one of them.
 */

import { againMutants } from './again.ts'
import { claimingMutants } from './claiming.ts'
import { engagingMutants } from './engaging.ts'
import { type Mutant, mutantsOf } from './mutant.ts'
import { returningMutants } from './returning.ts'
import { takingBackMutants } from './taking-back.ts'

const lane = 'actors/work/growth/send.ts'
const claimSend = 'actors/work/growth/claim-send.ts'
const runner = 'actors/engine/lane-runner.ts'
const send = 'src/domain/growth/sending/send.ts'
const post = 'src/domain/growth/sending/post.ts'
const reconcile = 'src/domain/growth/sending/reconcile.ts'
const sendWork = 'src/decisions/growth/send-work.ts'

export const mutants: Mutant[] = [
  ...returningMutants,
  ...engagingMutants,
  ...againMutants,
  ...claimingMutants,
  ...takingBackMutants,
  ...mutantsOf('test/sim/statements.ts', [
    // Who may act at all. The fence itself is SQL: here it is the reading of it that the simulation
    // runs on.
    [
      'a letter is not fenced',
      'if (memory.owner !== own.owner || memory.epoch !== own.epoch) return undefined',
      '',
    ],
  ]),
  ...mutantsOf('actors/engine/tenant.ts', [
    ['a fenced owner goes on', 'this.abandon()\n      this.onFenced()', 'this.onFenced()'],
  ]),
  ...mutantsOf('actors/engine/lane-runner.ts', [
    ['a new owner settles nothing', 'beCareful()\n    this.recover()', 'beCareful()'],
  ]),
  ...mutantsOf('actors/engine/outcome.ts', [
    [
      'an outcome of an earlier claim counts',
      "current.state !== 'running' || current.attempt !== work.attempt",
      'false',
    ],
  ]),
  ...mutantsOf(lane, [
    // The send.
    [
      'a send may be late',
      'context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs',
      'false',
    ],
  ]),
  ...mutantsOf(runner, [
    ['a recalled lane sends', 'if (live.controller.signal.aborted) return false', ''],
  ]),
  ...mutantsOf('src/decisions/work.ts', [
    [
      'a send waits under no key, though its item is bound to an account',
      'account === null ? null : accountKey(account)',
      'account === null ? null : null',
    ],
  ]),
  ...mutantsOf(send, [
    [
      'doubt is sent again',
      "return doubt(sent, { reason: outcome.reason, cause: outcome.cause ?? 'no_answer' })",
      'return unsent(sent)',
    ],
  ]),
  ...mutantsOf(lane, [
    [
      'what a dead process left is sent again',
      'return decisionOf(orphaned({ moves, record, attempt, now: gate.now, times: deps.times }, settleFrom), work)',
      `const sent = { moves, record, attempt, tries: 0, now: gate.now, times: deps.times }
    return decisionOf(await settleSend(sql, { sent, work }, { kind: 'unsent' }), work)`,
    ],
  ]),
  ...mutantsOf(send, [
    [
      'a refusal is tried again',
      'return failed(sent, outcome.reason)\n    case',
      'return unsent(sent)\n    case',
    ],
    ['a wait that the network asks for is ignored', 'outcome.retryAfterMs ?? 0', '0'],
  ]),
  ...mutantsOf(post, [
    [
      'a refusal leaves it approved',
      "status: 'publish_failed', last_error",
      "status: 'approved', last_error",
    ],
  ]),
  ...mutantsOf('src/decisions/growth/send-effects.ts', [
    [
      'nobody looks for what is in doubt',
      'work: [readWork(of, { origin, runAt: next.at })]',
      'work: []',
    ],
  ]),
  ...mutantsOf(send, [
    // What was approved.
    ['changed text goes out', 'record.approved_hash !== contentHash(content, bound) || ', ''],
  ]),
  ...mutantsOf('test/sim/statements-of-attempts.ts', [
    [
      'another account sends it',
      'accountFor(memory, record.account_external_id)',
      'accountFor(memory, null)',
    ],
    [
      'posts in doubt are not seen at the claim',
      'has_open_posts: find(memory.attempts, isPost) !== undefined',
      'has_open_posts: false',
    ],
  ]),
  ...mutantsOf(claimSend, [
    [
      'what was missed goes out',
      'isMissed: await missed(deps, claiming, record)',
      'isMissed: false',
    ],
  ]),
  ...mutantsOf(post, [
    [
      'the state is not checked at the claim',
      "origin === 'manual' ? status === 'publishing' : status === 'approved' && post_at !== null",
      "status !== 'posted'",
    ],
  ]),
  ...mutantsOf(claimSend, [
    [
      'a text in doubt goes out again for another item',
      'has_open_posts && (await means.isInTheWay(sql, ready.connection.id, means.hashOf(record)))',
      'has_open_posts && false',
    ],
  ]),
  ...mutantsOf('src/domain/growth/drafting/item-moves.ts', [
    [
      'post-now does not look at the state',
      "if (item.status !== 'approved' && item.status !== 'publish_failed') illegal(item, 'post')",
      '',
    ],
    [
      'post-now sends what is in doubt',
      "if (item.status === 'publish_unconfirmed')\n    fail('conflict', `cannot post",
      "if (item.status === 'publish_unconfirmed') return { ...item, status: 'publishing' }\n  if (!item)\n    fail('conflict', `cannot post",
    ],
  ]),
  ...mutantsOf('test/sim/work.ts', [
    // The kill switch and disconnecting.
    [
      'the pause holds no claim',
      "paused: at === 'gate' ? memory.paused : at.paused",
      "paused: at !== 'gate' && at.paused",
    ],
  ]),
  ...mutantsOf('src/ops/growth/automation.ts', [
    [
      'the pause recalls nothing',
      "recall(({ origin, kind }) => origin === 'automatic' || reach.includes(kind))",
      'recall(() => false)',
    ],
    [
      'the pause says that nothing is in flight',
      '  ...attempts.filter((',
      '  ...attempts.slice(attempts.length).filter((',
    ],
  ]),
  ...mutantsOf(sendWork, [
    [
      'the pause forgets what a person settled',
      'state, ended_at: now',
      'state, error: null, ended_at: now',
    ],
  ]),
  ...mutantsOf('src/decisions/growth/connecting.ts', [
    [
      'disconnecting recalls nothing',
      'recall((work) => work.concurrency_key ===',
      'recall((work) => false && work.concurrency_key ===',
    ],
  ]),
  ...mutantsOf(lane, [
    // Doubt.
    [
      'the timeline is read before the lease ends',
      'new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))',
      'gate.now',
    ],
  ]),
  ...mutantsOf(send, [
    ['the timeline is read at once', 'from.getTime() + times.settleMs', 'from.getTime()'],
  ]),
  ...mutantsOf(reconcile, [
    [
      'one clean read is enough',
      'if (!record.review && !isEnough(read, clean_reads))',
      'if (!record.review && clean_reads < 1)',
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
      'await identify(sql, { record, attempt, ',
      'await identify(sql, { record, attempt: { ...attempt, sent_text: (record as unknown as { body: string }).body }, ',
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
      'intent_at.getTime()) - CLOCK_SKEW_MS',
      'intent_at.getTime()) + CLOCK_SKEW_MS',
    ],
    [
      'after review nobody looks',
      'const at = nextRead(read, clean_reads)',
      'const at = clean_reads < read.times.cleanReads ? nextRead(read, clean_reads) : undefined',
    ],
  ]),
  ...mutantsOf(send, [
    ['a person is asked again and again', 'events: record.review ? [] : [', 'events: ['],
  ]),
  ...mutantsOf(post, [
    // Bookkeeping.
    [
      'posted is said twice',
      'events: [postedEvent(record)]',
      'events: [postedEvent(record), postedEvent(record)]',
    ],
  ]),
  ...mutantsOf('src/decisions/growth/send-effects.ts', [
    ['finished work stays', 'return { settled: [work.id] }', 'return {}'],
  ]),
  ...mutantsOf('actors/engine/tenant.ts', [
    [
      'what a lost answer left running is never looked at',
      'this.#runner.recover()\n    return cause',
      'return cause',
    ],
  ]),
  ...mutantsOf(sendWork, [
    [
      'what a person settled stays open',
      'writes: attempt ? [saveAttempt(',
      'writes: attempt && !now ? [saveAttempt(',
    ],
  ]),
  ...mutantsOf('actors/work/growth/send-replies.ts', [
    [
      'doubt is answered as posted',
      'if (moves.isSent(record))',
      'if (moves.isSent(record) || moves.isUnconfirmed(record))',
    ],
  ]),
]
