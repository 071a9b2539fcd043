/** What an archive has twice, or more of than a workspace can have. */
import { expect, test } from 'bun:test'
import { versionRecord } from '#contract/records/agent/playbook'
import { commentRecord } from '#contract/records/growth/comment'
import { engagementRecord } from '#contract/records/growth/engagement'
import { productRecord } from '#contract/records/growth/product'
import { reportRecord } from '#contract/records/growth/report'
import { revisionRecord } from '#contract/records/growth/revision'
import { ruleRunRecord } from '#contract/records/growth/rule-run'
import { signalRecord } from '#contract/records/growth/signal'
import type { Declared } from '#contract/records/record'
import { MOST_COMMENTS } from '#domain/growth/drafting/comment'
import { MOST_DRAFTS } from '#domain/growth/drafting/item-edits'
import { productLimits } from '#domain/growth/drafting/product'
import { MOST_REVISIONS } from '#domain/growth/drafting/revision'
import { MOST_OPEN_SIGNALS } from '#domain/growth/learning/signal'
import { newId } from '#kernel/ids'
import { isLeft, Judge } from '#server/import/judge'
import { KindCounts } from '#server/import/kind-counts'
import { arrivalAt, exportedItem, exportedSample } from '#test/support/archives'

const now = new Date()
const tomorrow = new Date(now.getTime() + 86_400_000)

const arrival = () => arrivalAt(now)
const person = { kind: 'person', id: newId() }
const item = exportedItem
const sample = exportedSample

/** Of records that come one after the other, why each is left out. */
const reasonsOf = (kind: string, records: readonly Record<string, unknown>[]) => {
  const at = arrival()
  const [rule, target, playbook] = [newId(), newId(), newId()]
  at.ids.add('rule', rule)
  at.ids.add('target', target)
  at.ids.add('playbook', playbook)
  const judge = new Judge(at, false)
  return records.map((record) => {
    const named = { rule_id: rule, target_id: target, playbook_id: playbook }
    const own = Object.entries(named).filter(([name]) => name in record)
    const verdict = judge.judge({ kind, record: { ...record, ...Object.fromEntries(own) } })
    return isLeft(verdict) ? verdict.reason : undefined
  })
}

const occurrence = newId()
const author = { ...person, kind: 'session' }
test.each<[string, string, Declared, object, object]>([
  [
    'product of a name',
    'product',
    productRecord,
    { name: 'Dock', url: null },
    { name: 'DOCK', url: null },
  ],
  [
    'automatic report on a week',
    'report',
    reportRecord,
    { origin: 'automatic', week: '2026-11-23' },
    { origin: 'automatic', week: '2026-11-23' },
  ],
  [
    'like of a post',
    'engagement',
    engagementRecord,
    { status: 'approved', action: 'like', post_id: 'p1' },
    { status: 'executed', action: 'like', post_id: 'p1' },
  ],
  [
    'run of an occurrence',
    'rule_run',
    ruleRunRecord,
    { occurrence },
    { occurrence: occurrence.toUpperCase() },
  ],
  ['version of a number', 'playbook_version', versionRecord, { author }, { author }],
])('of each %s a workspace has one, as its indexes say', (_, kind, record, first, second) => {
  const records = [sample(record, first), sample(record, second)]
  expect(reasonsOf(kind, records)).toEqual([undefined, 'the archive has it twice'])
})

test('what indexes do not keep apart is taken over', () => {
  const products = ['active', 'archived', 'archived'].map((status) =>
    sample(productRecord, { name: 'Dock', url: null, status }),
  )
  const reports = ['automatic', 'manual', 'manual'].map((origin) =>
    sample(reportRecord, { origin, week: '2026-11-23' }),
  )
  const engagements = [
    { status: 'rejected' },
    { status: 'failed' },
    // Still being drafted, which fails here.
    { status: 'queued', action: 'reply', body: null },
    { status: 'deleted', deleted_status: 'drafted', deleted_at: now },
    { status: 'drafted', action: 'reply', body: 'text' },
  ].map((changes) => sample(engagementRecord, { action: 'reply', post_id: 'p1', ...changes }))
  expect(reasonsOf('product', products)).toEqual([undefined, undefined, undefined])
  expect(reasonsOf('report', reports)).toEqual([undefined, undefined, undefined])
  expect(reasonsOf('engagement', engagements).filter(Boolean)).toEqual([])
})

test.each([
  ['active products', productLimits.active, 'active'],
  ['products', productLimits.all, 'archived'],
])(
  'more %s than a workspace can have are left out, in each reading the same',
  (what, most, status) => {
    const products = Array.from({ length: most + 2 }, (_, at) =>
      sample(productRecord, { name: `Dock ${at}`, url: null, status }),
    )
    const excess = `it is beyond ${most} ${what}, the most that a workspace can have`
    const at = arrival()
    for (const isLast of [false, true]) {
      const judge = new Judge(at, isLast)
      const reasons = products.map((record) => {
        const verdict = judge.judge({ kind: 'product', record })
        return isLeft(verdict) ? verdict.reason : undefined
      })
      expect(reasons.slice(0, most).filter(Boolean)).toEqual([])
      expect(reasons.slice(most)).toEqual([excess, excess])
    }
    expect(products.map(({ id }) => at.ids.has('product', id)).indexOf(false)).toBe(most)
  },
)

test('signals whose time is over are as many as there are, and of open ones those that fit', () => {
  const signals = (count: number, expires_at: Date) =>
    Array.from({ length: count }, (_, at) =>
      sample(signalRecord, { post_id: `${expires_at} ${at}`, status: 'open', expires_at }),
    )
  const over = signals(MOST_OPEN_SIGNALS + 1, new Date(now.getTime() - 1_000))
  const open = signals(MOST_OPEN_SIGNALS + 1, tomorrow)
  const reasons = reasonsOf('signal', [...over, ...open])
  expect(reasons.slice(0, -1).filter(Boolean)).toEqual([])
  expect(reasons.at(-1)).toContain(`beyond ${MOST_OPEN_SIGNALS} open signals`)
})

test('what belongs to nothing takes up no room, and an id in another case does', () => {
  const at = arrival()
  const record = item()
  const [first, last] = [new Judge(at, false), new Judge(at, true)]
  first.judge({ kind: 'item', record })
  last.judge({ kind: 'item', record })
  const stranger = newId()
  for (let count = 0; count <= MOST_COMMENTS; count++) {
    const comment = sample(commentRecord, { item_id: stranger })
    for (const judge of [first, last])
      judge.judge({ kind: 'comment', record: { ...comment, written_by: person } })
  }
  expect(first.used(`comments on the item ${stranger}`)).toBe(0)
  expect(last.used(`comments on the item ${stranger}`)).toBe(0)
  const verdicts = Array.from({ length: MOST_REVISIONS + 1 }, (_, at) => {
    const id = String(record.id)
    const record_id = at % 2 === 0 ? id : id.toUpperCase()
    const revision = sample(revisionRecord, { record_id, number: at + 1, body: 'text' })
    first.judge({ kind: 'revision', record: revision })
    return last.judge({ kind: 'revision', record: revision })
  })
  expect(verdicts.findIndex(isLeft)).toBe(MOST_REVISIONS)
  expect(verdicts.at(-1)).toMatchObject({
    reason: expect.stringContaining(`beyond ${MOST_REVISIONS} versions`),
  })
})

test('a signal without a target comes along, and one of a target that stayed behind does not', () => {
  const judge = new Judge(arrival(), false)
  const [free, bound] = [null, newId()].map((target_id, at) =>
    judge.judge({ kind: 'signal', record: sample(signalRecord, { target_id, post_id: `${at}` }) }),
  )
  expect([isLeft(free!), isLeft(bound!)]).toEqual([false, true])
})

test('an id that comes twice, in any case, is taken once', () => {
  const judge = new Judge(arrival(), false)
  const record = item()
  expect(isLeft(judge.judge({ kind: 'item', record }))).toBe(false)
  const twice = { ...record, id: String(record.id).toUpperCase() }
  expect(judge.judge({ kind: 'item', record: twice })).toMatchObject({
    reason: 'the archive has it twice',
  })
})

test('a signal that nobody answers any more has an id of bounded length too', () => {
  const [long] = reasonsOf('signal', [
    sample(signalRecord, { post_id: 'x'.repeat(501), status: 'dismissed' }),
  ])
  expect(long).toBe('post_id has more than 500 bytes')
})

test('kinds that this version does not know count as one', () => {
  const counts = new KindCounts()
  for (const kind of ['item', 'item', 'file', '__proto__', 'toString', 'spell']) counts.add(kind)
  for (let at = 0; at < 1_000; at++) counts.add(`kind ${at}`)
  expect(counts.all()).toEqual([
    ['item', 2],
    ['file', 1],
    ['unknown', 1_003],
  ])
})

test('a workspace can have more texts that arrive as drafts than it may write drafts', () => {
  const judge = new Judge(arrival(), false)
  const statuses = ['drafted', 'approved', 'publish_failed']
  const record = item()
  for (let count = 0; count <= MOST_DRAFTS; count++) {
    const status = statuses[count % statuses.length]
    const verdict = judge.judge({ kind: 'item', record: { ...record, id: newId(), status } })
    if (isLeft(verdict)) throw new Error(verdict.reason)
  }
})
