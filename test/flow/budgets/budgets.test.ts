/**
 * What the database may spend on each kind of thing. UPDATE_BUDGETS=1 with
 * `npm test -- test/flow/budgets` writes what it spends today to test/data/budgets.json. Whoever
 * raises a budget says why in the commit.
 */
import { beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { plannedModel } from '#test/support/agent/plan'
import { ask, newAgentStory } from '#test/support/agent/story'
import { type Spent, spendingApp } from '#test/support/database/spent'
import { insertItem, makeItemDue } from '#test/support/database/writes'
import { newStory, type Story } from '#test/support/growth/story'
import { use } from '#test/support/use'

const HOUR = 3_600_000
const FILE = new URL('../../data/budgets.json', import.meta.url)
/** Equal runs differ by less. */
const MOST = { log: 1.03, pages: 1.1, nodes: 1.05 }
/** What costs less is to have a lower budget, or nobody would notice when it is spent again. */
const LEAST = 0.9

const spending = use(() => spendingApp({ overrides: { thinker: plannedModel() } }))

const ok = async (reply: ReturnType<Story['send']>) =>
  expect((await reply).status).toBeLessThan(300)

const withDrafts = async (): Promise<Story> => {
  const story = await newStory(spending.counted.app)
  for (let n = 0; n < 20; n++) await insertItem(spending.counted.app, story.tenantId)
  return story
}

const kinds: Record<string, () => Promise<Spent>> = {
  'a list of 20 drafts': async () => {
    const story = await withDrafts()
    return spending.spent(() => ok(story.send('GET', 'items?limit=20')))
  },
  'an item': async () => {
    const story = await withDrafts()
    const id = await story.drafted()
    return spending.spent(() => ok(story.send('GET', `items/${id}`)))
  },
  'the inbox': async () => {
    const story = await withDrafts()
    return spending.spent(() => ok(story.send('GET', '/api/v1/inbox?limit=20')))
  },
  'a change of the profile': async () => {
    const story = await newStory(spending.counted.app)
    return spending.spent((n) => ok(story.send('PUT', 'profile', { body: { goal: `goal ${n}` } })))
  },
  'an approval': async () => {
    const story = await newStory(spending.counted.app)
    const ids = await Promise.all(Array.from({ length: 30 }, () => story.drafted()))
    return spending.spent((n) => ok(story.send('POST', `items/${ids[n]}/approve`)))
  },
  'a post that is due': async () => {
    const story = await newStory(spending.counted.app)
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push(await story.scheduled(HOUR))
    const spent = await spending.spent(async (n) => {
      await makeItemDue(spending.counted.app, ids[n]!)
      await spending.counted.costOfDue(story.tenantId)
    })
    expect((await story.item(ids[25]!)).status).toBe('posted')
    return spent
  },
  'a turn of the agent': async () => {
    const story = await newAgentStory(spending.counted.app)
    return spending.spent(() => ask(spending.counted.app, story, []))
  },
  'a job with one command': async () => {
    const story = await newAgentStory(spending.counted.app)
    return spending.spent((n) =>
      ask(spending.counted.app, story, [
        [['growth_add_learning', { kind: 'worked', note: `note ${n}` }]],
      ]),
    )
  },
}

/** In a fixed order, as plans depend on what the tables hold by then. */
const found: Record<string, Spent> = {}
beforeAll(async () => {
  for (const [name, make] of Object.entries(kinds)) found[name] = await make()
  if (process.env.UPDATE_BUDGETS) writeFileSync(FILE, `${JSON.stringify(found, null, 2)}\n`)
})

const budgets: Record<string, Spent> = JSON.parse(readFileSync(FILE, 'utf8'))

test.each(Object.keys(kinds))('%s spends what it may, neither more nor much less', (name) => {
  for (const unit of ['log', 'pages', 'nodes'] as const) {
    const [spent, budget] = [found[name]![unit], budgets[name]?.[unit] ?? 0]
    const isWithin = spent <= budget * MOST[unit] && spent >= budget * LEAST
    expect({ unit, spent, isWithin }).toEqual({ unit, spent: expect.any(Number), isWithin: true })
  }
})

test('there is a budget for each, and no other', () => {
  expect(Object.keys(budgets)).toEqual(Object.keys(kinds))
})
