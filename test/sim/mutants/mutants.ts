/**
 * Mistakes that somebody could make, one change of the source each: the simulation must find every
 * one of them.
 */
import { settleSend } from '#decisions/growth/send-effects'
import { againMutants } from './again.ts'
import { claimingMutants } from './claiming.ts'
import { doubtingMutants } from './doubting.ts'
import { engagingMutants } from './engaging.ts'
import { type Mutant, mutantsOf } from './mutant.ts'
import { returningMutants } from './returning.ts'
import { takingBackMutants } from './taking-back.ts'

const lane = 'actors/work/growth/send.ts'
const claimSend = 'actors/work/growth/claim-send.ts'
const runner = 'actors/engine/lane-runner.ts'
const send = 'src/domain/growth/sending/send.ts'
const post = 'src/domain/growth/sending/post.ts'
const sendWork = 'src/decisions/growth/send-work.ts'

export const mutants: Mutant[] = [
  ...returningMutants,
  ...engagingMutants,
  ...doubtingMutants,
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
    [
      'a new owner settles nothing',
      `if (inherited) this.#faults.beCareful()
this.recover()`,
      'if (inherited) this.#faults.beCareful()',
    ],
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
      `case 'unknown':
        return doubt($$)
      case $$others:
      case 'unsent':
        return unsent(sent)`,
      `case 'unknown':
        return unsent(sent)
      case $$others:
      case 'unsent':
        return unsent(sent)`,
    ],
  ]),
  ...mutantsOf(lane, [
    [
      'what a dead process left is sent again',
      `const record = await lock(sql, of.record_id)
      $$attempt
      return decisionOf(orphaned({ moves, record, attempt, now: gate.now, times: deps.times }, settleFrom), work)`,
      `const record = await lock(sql, of.record_id)
      $$attempt
      const sent = { moves, record, attempt, tries: 0, now: gate.now, times: deps.times }
      return decisionOf(await ${settleSend.name}(sql, { sent, work }, { kind: 'unsent' }), work)`,
    ],
  ]),
  ...mutantsOf(send, [
    [
      'a refusal is tried again',
      `case 'refused':
        return failed($$)
      case $$others:
      case 'unsent':
        return unsent(sent)`,
      `case 'refused':
        return unsent(sent)
      case $$others:
      case 'unsent':
        return unsent(sent)`,
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
    [
      'changed text goes out',
      'record.approved_hash !== contentHash(content, bound) || $other',
      '$other',
    ],
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
      '$account.has_open_posts && (await means.isInTheWay($$))',
      '$account.has_open_posts && false',
    ],
  ]),
  ...mutantsOf('src/domain/growth/drafting/item-moves.ts', [
    [
      'post-now does not look at the state',
      "status: itemStates.next(item, 'post'),",
      "status: item.status === 'publish_unconfirmed' ? itemStates.next(item, 'post') : 'publishing',",
    ],
  ]),
  ...mutantsOf('src/domain/growth/drafting/item-states.ts', [
    [
      'post-now sends what is in doubt',
      "from: ['approved', 'scheduled', 'publish_failed'], to: 'publishing'",
      "from: ['approved', 'scheduled', 'publish_failed', 'publish_unconfirmed'], to: 'publishing'",
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
      "$lanes.recall(({ origin, kind }) => origin === 'automatic' || reach.includes(kind))",
      '$lanes.recall(() => false)',
    ],
    [
      'the pause says that nothing is in flight',
      'attempts.filter(({ record_id }) => !recalled.has(record_id))',
      'attempts.filter(() => false)',
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
      '$lanes.recall((work) => work.concurrency_key === $account)',
      '$lanes.recall(() => false)',
    ],
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
    ['what a person settled stays open', 'writes: attempt ? [saveAttempt($)] : []', 'writes: []'],
  ]),
  ...mutantsOf('actors/work/growth/send-replies.ts', [
    [
      'doubt is answered as posted',
      'moves.isSent(record)',
      'moves.isSent(record) || moves.isUnconfirmed(record)',
    ],
  ]),
]
