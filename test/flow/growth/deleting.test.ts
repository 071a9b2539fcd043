/** Rules, targets, products and learnings are deleted; what they led to stays. */
import { describe, expect, test } from 'bun:test'
import { runEffects } from '#decisions/growth/occurrences'
import { runsFor } from '#domain/growth/rules/rule-run'
import { newId } from '#kernel/ids'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually } from '#test/support/app'
import { write } from '#test/support/arrange'
import { rulesOf } from '#test/support/growth/rule-story'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const failpoints = testFailpoints()
const app = useApp({ overrides: { failpoints: failpoints.at } })

const rule = {
  name: 'Weekly',
  trigger: { kind: 'cron', pattern: '0 9 * * 1' },
  action: { kind: 'draft_batch' },
}
const inputs = {
  rules: rule,
  targets: { handle: 'ships_on_tuesday' },
  products: { name: 'Loopline', one_liner: 'Onboarding that asks one question' },
  learnings: { kind: 'worked', note: 'Posts that open with a number' },
}
type Kind = keyof typeof inputs
const kinds = Object.keys(inputs) as Kind[]

const made = async (
  story: Story,
  kind: Kind,
  input: object = inputs[kind],
): Promise<{ id: string }> => {
  const { status, body } = await story.send('POST', kind, { body: input })
  expect(status).toBe(201)
  return body[kind.slice(0, -1)]
}
const remove = (story: Story, kind: Kind, id: string) => story.send('DELETE', `${kind}/${id}`)
const listed = async (story: Story, kind: Kind) =>
  (await story.send('GET', kind)).body[kind].map(({ id }: { id: string }) => id) as string[]
const worksOf = (id: string) => app.owner`select kind from work where ref_id = ${id}`

describe.each(kinds)('%s', (kind) => {
  test('are gone once deleted, with the work for them, and another can take their place', async () => {
    const story = await newStory(app)
    const { id } = await made(story, kind)
    const { status, body } = await remove(story, kind, id)
    expect([status, body[kind.slice(0, -1)].id]).toEqual([200, id])
    expect(await listed(story, kind)).toEqual([])
    expect(
      await eventually(
        () => worksOf(id),
        (rows) => rows.length === 0,
      ),
    ).toHaveLength(0)
    const again = await remove(story, kind, id)
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found'])
    await made(story, kind)
  })
})

test('the signals of a deleted target stay, and can be answered', async () => {
  const story = await newStory(app)
  const { sandbox } = app.workplace
  const account = { id: newId(), ...(await sandbox.connect(newId(), `s-${newId()}`)) }
  await sandbox.publish(
    {
      account,
      text: 'Who answers on Sundays?',
      attemptId: newId(),
      key: null,
      madeAt: new Date(),
      deadlineMs: 5_000,
    },
    AbortSignal.timeout(30_000),
  )
  const { id } = await made(story, 'targets', { handle: account.handle })
  const signals = async () => (await story.send('GET', 'signals')).body.signals
  const [signal] = await eventually(signals, (found) => found.length === 1)
  await remove(story, 'targets', id)
  expect(await signals()).toMatchObject([{ id: signal.id, target_id: id }])
  expect(
    (await story.send('POST', `signals/${signal.id}/engage`, { body: { action: 'like' } })).body
      .engagement,
  ).toMatchObject({
    status: 'drafted',
    signal_id: signal.id,
  })
})

test('a target is deleted while it is read, and the read adds nothing', async () => {
  const story = await newStory(app)
  failpoints.arm('watch.reading', 'hang')
  const { id } = await made(story, 'targets')
  await failpoints.reached('watch.reading')
  expect((await remove(story, 'targets', id)).status).toBe(200)
  failpoints.release('watch.reading')
  const next = await made(story, 'targets')
  await eventually(
    async () => (await story.send('GET', 'targets')).body.targets[0],
    ({ last_read_at }) => last_read_at !== null,
  )
  expect(await listed(story, 'targets')).toEqual([next.id])
  expect(await worksOf(id)).toHaveLength(0)
})

test('a run that waits when its rule is deleted is skipped, and the earlier runs stay', async () => {
  const rules = rulesOf(await newStory(app))
  const { tenantId, send } = rules.story
  const { id } = await rules.create(rule)
  const known = { id, daily_cap: 5, day: null, used: 0, over: 0 } as unknown as Parameters<
    typeof runsFor
  >[0]
  const caused = { occurrence: { kind: 'cron', ref: new Date().toISOString() } as const, chain: [] }
  const { runs } = runsFor(known, [caused], { now: new Date(), paused: false, newId })
  await send('DELETE', `rules/${id}`)
  await write({ app, tenantId }, runEffects(runs))
  expect(await rules.ended(id)).toMatchObject({
    status: 'skipped',
    reason: 'rule_deleted',
    rule_id: id,
  })
  expect((await send('GET', 'rules')).body.rules).toEqual([])
})

test('items go on naming a deleted learning', async () => {
  const story = await newStory(app)
  const { id } = await made(story, 'learnings')
  const item = await story.drafted()
  await app.owner`update item set learnings = ${app.owner.json([id])} where id = ${item}`
  await remove(story, 'learnings', id)
  expect(await story.item(item)).toMatchObject({ status: 'drafted', learnings: [id] })
})

test('a workspace whose plan lacks the feature can still delete', async () => {
  const story = await newStory(app)
  const [target, weekly] = [await made(story, 'targets'), await made(story, 'rules')]
  await app.owner`update tenant set plan = 'free' where id = ${story.tenantId}`
  expect([
    (await remove(story, 'targets', target.id)).status,
    (await remove(story, 'rules', weekly.id)).status,
  ]).toEqual([200, 200])
})
