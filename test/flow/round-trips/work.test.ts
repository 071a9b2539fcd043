/**
 * The statements of each kind of work, from the look that finds it to the one that finds nothing
 * more.
 */
import { expect, test } from 'bun:test'
import { type Plan, plannedModel } from '#test/support/agent/plan'
import { ask, learned, newAgentStory } from '#test/support/agent/story'
import { call, legalInput, newWorkspace, usualOperations } from '#test/support/contract/prepare'
import { expectHints, hintedNames } from '#test/support/database/heard-hints'
import { type Cost, countedApp, expectCost, namesOf } from '#test/support/database/round-trips'
import { makeDue, makeItemDue } from '#test/support/database/writes'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { type Loss, lostAnswer, lostRequest, unreliable } from '#test/support/growth/unreliable'
import { dataOf, eventOf, hookOf } from '#test/support/http/hooks'
import { openReceiver } from '#test/support/http/receiver'
import { use } from '#test/support/use'

const HOUR = 3_600_000

const receiver = use(openReceiver)
const env = () => ({ EGRESS_ALLOW: `127.0.0.1:${receiver.port}` })
const counted = use(() => countedApp({ env: env(), overrides: { thinker: plannedModel() } }))

const ok = async (reply: ReturnType<Story['send']>) =>
  expect((await reply).status).toBeLessThan(300)

/** A post that is due, though nobody has looked yet. */
const due = async (story: Story): Promise<string> => {
  const id = await story.scheduled(HOUR)
  await counted.idle()
  await makeItemDue(counted.app, id)
  return id
}

/** Makes the work on a record due, and counts it. */
const dueWork = async (
  { tenantId }: { tenantId: string },
  refId: string,
  kind: string,
): Promise<Cost> => {
  await counted.idle()
  const rows = await counted.app
    .owner`select id from work where ref_id = ${refId} and kind = ${kind}`
  expect(rows).toHaveLength(1)
  await makeDue(counted.app, refId, { kind })
  return counted.costOfDue(tenantId)
}

const posted = async (story: Story): Promise<string> => {
  const id = await story.approved()
  await ok(story.send('POST', `items/${id}/post-now`))
  return id
}

/** The costs of a due post whose first send gets no answer, and of the read after it. */
const doubtful = async (
  loss: Loss,
  after: 'posted' | 'publish_unconfirmed',
): Promise<{ send: Cost; read: Cost }> => {
  const story = await newStory(counted.app)
  const id = await due(story)
  unreliable(counted.app).answers.set(textOf(id), loss)
  const send = await counted.costOfDue(story.tenantId)
  expect((await story.item(id)).status).toBe('publish_unconfirmed')
  const read = await dueWork(story, id, 'reconcile')
  expect((await story.item(id)).status).toBe(after)
  return { send, read }
}

const made = async (operation: string): Promise<Cost> => {
  const workspace = await newWorkspace(counted.app)
  const o = usualOperations.find(({ id }) => id === operation)!
  const input = await legalInput(workspace, o)
  return (
    await counted.cost(async () => expect((await call(workspace, o, input)).status).toBe(o.status))
  ).rest()
}

const delivery = async (events: number): Promise<Cost> => {
  const hook = hookOf(counted.app, (await counted.app.newWorkspace()).tenantId)
  await hook.set(receiver.url)
  const record = `record ${events}`
  const cost = await counted.cost(() =>
    hook.emit(...Array.from({ length: events }, (_, n) => eventOf(record, n))),
  )
  expect(receiver.requests.filter((request) => dataOf(request).item_id === record)).toHaveLength(
    events,
  )
  return cost.rest()
}

/** A message, and the job that answers it. */
const turn = async (): Promise<Cost> => {
  const story = await newAgentStory(counted.app)
  return counted.cost(() => ask(counted.app, story, []))
}

/** A job whose model calls so many commands in one answer. */
const answered = async (commands: number): Promise<Cost> => {
  const story = await newAgentStory(counted.app)
  const note = (n: number): Plan[number][number] => [
    'growth_add_learning',
    { kind: 'worked', note: `note ${n}` },
  ]
  const cost = await counted.cost(() =>
    ask(counted.app, story, [Array.from({ length: commands }, (_, n) => note(n))]),
  )
  expect(await learned(counted.app, story)).toHaveLength(commands)
  return cost.rest()
}

const ruled = async (trigger: object): Promise<{ story: Story; id: string }> => {
  const story = await newStory(counted.app)
  const body = { name: 'Keep drafting', trigger, action: { kind: 'draft_batch', count: 1 } }
  const { rule } = (await story.send('POST', 'rules', { body })).body
  return { story, id: rule.id }
}

const kinds: Record<string, () => Promise<Cost>> = {
  'a look that finds nothing': async () =>
    counted.costOfDue((await newStory(counted.app)).tenantId),
  'a due post': async () => {
    const story = await newStory(counted.app)
    const id = await due(story)
    const cost = await counted.costOfDue(story.tenantId)
    expect((await story.item(id)).status).toBe('posted')
    return cost
  },
  'three due posts': async () => {
    const story = await newStory(counted.app)
    const ids = [await due(story), await due(story), await due(story)]
    const cost = await counted.costOfDue(story.tenantId)
    for (const id of ids) expect((await story.item(id)).status).toBe('posted')
    return cost
  },
  'a due post for which a rule waits': async () => {
    const { story } = await ruled({ kind: 'item_posted' })
    await due(story)
    return counted.costOfDue(story.tenantId)
  },
  'a due post whose answer is lost': async () => (await doubtful(lostAnswer, 'posted')).send,
  'the read that finds a doubtful post': async () => (await doubtful(lostAnswer, 'posted')).read,
  'a read that does not find a doubtful post': async () =>
    (await doubtful(lostRequest, 'publish_unconfirmed')).read,
  'a read of metrics': async () => {
    const story = await newStory(counted.app)
    await posted(story)
    return dueWork(story, story.tenantId, 'metrics')
  },
  'the delivery of an event': () => delivery(1),
  'the delivery of three events': () => delivery(3),
  'a job with one command': () => answered(1),
  'a job with three commands': () => answered(3),
  'a turn': turn,
  'a batch': () => made('growth.batches.create'),
  'an article': () => made('growth.articles.create'),
  'a watched target': () => made('growth.targets.create'),
  'a rule by the clock': async () => {
    const { story, id } = await ruled({ kind: 'cron', pattern: '0 9 * * 1', time_zone: 'UTC' })
    return dueWork(story, id, 'rule_cron')
  },
  'the report of a week': async () => {
    const story = await newStory(counted.app)
    await posted(story)
    return dueWork(story, story.tenantId, 'weekly_report')
  },
}

test.each(Object.entries(kinds))('%s', async (name, make) => {
  const cost = await make()
  expectCost('work', name, cost)
  expectHints('work', name, cost)
})

test('every kind of work has its cost and its hints in the tables', () => {
  expect(hintedNames('work').sort()).toEqual(Object.keys(kinds).sort())
  expect(namesOf('work').sort()).toEqual(Object.keys(kinds).sort())
})
