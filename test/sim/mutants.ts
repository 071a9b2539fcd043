/** Mistakes that somebody could make, one change of the source each: the simulation must find every one of them. */
import type { Mutant } from './mutant.ts'
import { againMutants } from './mutants-again.ts'
import { claimingMutants } from './mutants-claiming.ts'
import { engagingMutants } from './mutants-engaging.ts'
import { returningMutants } from './mutants-returning.ts'
import { takingBackMutants } from './mutants-taking-back.ts'

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
  // Who may act at all. The fence itself is SQL: here it is the reading of it that the simulation runs on.
  {
    name: 'a letter is not fenced',
    file: 'test/sim/statements.ts',
    from: 'if (memory.owner !== own.owner || memory.epoch !== own.epoch) return undefined',
    to: '',
  },
  { name: 'a fenced owner goes on', file: 'actors/engine/tenant.ts', from: 'this.abandon()\n      this.onFenced()', to: 'this.onFenced()' },
  {
    name: 'a new owner settles nothing',
    file: 'actors/engine/lane-runner.ts',
    from: 'beCareful()\n    this.recover()',
    to: 'beCareful()',
  },
  {
    name: 'an outcome of an earlier claim counts',
    file: 'actors/engine/outcome.ts',
    from: "current.state !== 'running' || current.attempt !== work.attempt",
    to: 'false',
  },
  // The send.
  { name: 'a send may be late', file: lane, from: 'context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs', to: 'false' },
  { name: 'a recalled lane sends', file: runner, from: 'if (live.controller.signal.aborted) return false', to: '' },
  {
    name: 'a send waits under no key, though its item is bound to an account',
    file: 'src/decisions/work.ts',
    from: 'account === null ? null : accountKey(account)',
    to: 'account === null ? null : null',
  },
  {
    name: 'doubt is sent again',
    file: send,
    from: "return doubt(sent, { reason: outcome.reason, cause: outcome.cause ?? 'no_answer' })",
    to: 'return unsent(sent)',
  },
  {
    name: 'what a dead process left is sent again',
    file: lane,
    from: 'return decisionOf(orphaned({ moves, record, attempt, now: gate.now, times: deps.times }, settleFrom), work)',
    to: `const sent = { moves, record, attempt, tries: 0, now: gate.now, times: deps.times }
    return decisionOf(await settleSend(sql, { sent, work }, { kind: 'unsent' }), work)`,
  },
  {
    name: 'a refusal is tried again',
    file: send,
    from: 'return failed(sent, outcome.reason)\n    case',
    to: 'return unsent(sent)\n    case',
  },
  { name: 'a wait that the network asks for is ignored', file: send, from: 'outcome.retryAfterMs ?? 0', to: '0' },
  {
    name: 'a refusal leaves it approved',
    file: post,
    from: "status: 'publish_failed', last_error",
    to: "status: 'approved', last_error",
  },
  {
    name: 'nobody looks for what is in doubt',
    file: 'src/decisions/growth/send-effects.ts',
    from: 'work: [readWork(of, { origin, runAt: next.at })]',
    to: 'work: []',
  },
  // What was approved.
  { name: 'changed text goes out', file: send, from: 'record.approved_hash !== contentHash(content, bound) || ', to: '' },
  {
    name: 'another account sends it',
    file: 'test/sim/statements.ts',
    from: 'accountFor(memory, record.account_external_id)',
    to: 'accountFor(memory, null)',
  },
  {
    name: 'posts in doubt are not seen at the claim',
    file: 'test/sim/statements.ts',
    from: 'has_open_posts: find(memory.attempts, isPost) !== undefined',
    to: 'has_open_posts: false',
  },
  {
    name: 'what was missed goes out',
    file: claimSend,
    from: 'isMissed: await missed(deps, claiming, record)',
    to: 'isMissed: false',
  },
  {
    name: 'the state is not checked at the claim',
    file: post,
    from: "origin === 'manual' ? status === 'publishing' : status === 'approved' && post_at !== null",
    to: "status !== 'posted'",
  },
  {
    name: 'a text in doubt goes out again for another item',
    file: claimSend,
    from: 'has_open_posts && (await means.isInTheWay(sql, ready.connection.id, means.hashOf(record)))',
    to: 'has_open_posts && false',
  },
  {
    name: 'post-now does not look at the state',
    file: 'src/domain/growth/drafting/item-moves.ts',
    from: "if (item.status !== 'approved' && item.status !== 'publish_failed') illegal(item, 'post')",
    to: '',
  },
  {
    name: 'post-now sends what is in doubt',
    file: 'src/domain/growth/drafting/item-moves.ts',
    from: "if (item.status === 'publish_unconfirmed')\n    fail('conflict', `cannot post",
    to: "if (item.status === 'publish_unconfirmed') return { ...item, status: 'publishing' }\n  if (!item)\n    fail('conflict', `cannot post",
  },
  // The kill switch and disconnecting.
  {
    name: 'the pause holds no claim',
    file: 'test/sim/work.ts',
    from: "paused: at === 'gate' ? memory.paused : at.paused",
    to: "paused: at !== 'gate' && at.paused",
  },
  {
    name: 'the pause recalls nothing',
    file: 'src/ops/growth/automation.ts',
    from: "recall(({ origin, kind }) => origin === 'automatic' || reach.includes(kind))",
    to: 'recall(() => false)',
  },
  {
    name: 'the pause says that nothing is in flight',
    file: 'src/ops/growth/automation.ts',
    from: '  ...attempts.filter((',
    to: '  ...attempts.slice(attempts.length).filter((',
  },
  {
    name: 'the pause forgets what a person settled',
    file: sendWork,
    from: 'state, ended_at: now',
    to: 'state, error: null, ended_at: now',
  },
  {
    name: 'disconnecting recalls nothing',
    file: 'src/decisions/growth/connecting.ts',
    from: 'recall((work) => work.concurrency_key ===',
    to: 'recall((work) => false && work.concurrency_key ===',
  },
  // Doubt.
  {
    name: 'the timeline is read before the lease ends',
    file: lane,
    from: 'new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))',
    to: 'gate.now',
  },
  { name: 'the timeline is read at once', file: send, from: 'from.getTime() + times.settleMs', to: 'from.getTime()' },
  {
    name: 'one clean read is enough',
    file: reconcile,
    from: 'if (!record.review && !isEnough(read, clean_reads))',
    to: 'if (!record.review && clean_reads < 1)',
  },
  {
    name: 'an incomplete read counts',
    file: 'actors/work/growth/timeline.ts',
    from: "if (!complete) return { kind: 'unread', resources: posts.length }",
    to: '',
  },
  {
    name: 'doubt is looked up by the text that the item has now',
    file: 'actors/work/growth/reconcile.ts',
    from: 'await identify(sql, { record, attempt, ',
    to: 'await identify(sql, { record, attempt: { ...attempt, sent_text: (record as unknown as { body: string }).body }, ',
  },
  {
    name: 'a post of another item is taken',
    file: reconcile,
    from: 'const candidates = posts.filter((post) => post.createdAt.getTime() >= since && !taken.has(post.externalId))',
    to: 'const candidates = posts.filter((post) => post.createdAt.getTime() >= since)',
  },
  {
    name: 'only later posts are looked at',
    file: reconcile,
    from: 'intent_at.getTime()) - CLOCK_SKEW_MS',
    to: 'intent_at.getTime()) + CLOCK_SKEW_MS',
  },
  {
    name: 'after review nobody looks',
    file: reconcile,
    from: 'const at = nextRead(read, clean_reads)',
    to: 'const at = clean_reads < read.times.cleanReads ? nextRead(read, clean_reads) : undefined',
  },
  { name: 'a person is asked again and again', file: send, from: 'events: record.review ? [] : [', to: 'events: [' },
  // Bookkeeping.
  {
    name: 'posted is said twice',
    file: post,
    from: 'events: [postedEvent(record)]',
    to: 'events: [postedEvent(record), postedEvent(record)]',
  },
  { name: 'finished work stays', file: 'src/decisions/growth/send-effects.ts', from: 'return { settled: [work.id] }', to: 'return {}' },
  {
    name: 'what a lost answer left running is never looked at',
    file: 'actors/engine/tenant.ts',
    from: "'a letter failed')\n    this.#runner.recover()",
    to: "'a letter failed')",
  },
  {
    name: 'what a person settled stays open',
    file: sendWork,
    from: 'writes: attempt ? [saveAttempt(',
    to: 'writes: attempt && !now ? [saveAttempt(',
  },
  {
    name: 'doubt is answered as posted',
    file: 'actors/work/growth/send-replies.ts',
    from: 'if (moves.isSent(record))',
    to: 'if (moves.isSent(record) || moves.isUnconfirmed(record))',
  },
]
