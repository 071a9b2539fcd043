/**
 * What MCP servers say of themselves, read by a model that obeys all of it: nothing comes of it
 * that a person has not allowed.
 */
import { expect, test } from 'bun:test'
import type { ThinkRequest } from '#port/model/thinker'
import { turn } from '#test/support/agent/agent'
import {
  attackIn,
  newTarget,
  readIn,
  settled,
  stateOf,
  useAttackersHosts,
} from '#test/support/agent/attacked'
import { type Attack, poisoned } from '#test/support/agent/attacks'
import { newWorkspace } from '#test/support/contract/prepare'
import { type FakeTool, fakeMcp, SEARCH } from '#test/support/mcp/client'
import { serverAdmin } from '#test/support/mcp/servers'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

type Poisoned = Omit<Attack, 'source'>

/** Where the text stands, as the server lists the tool. What is answered is elsewhere. */
const places = {
  description: ({ text }) => ({ description: text }),
  schema: ({ text }) => ({
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: text, default: text } },
    },
  }),
  title: ({ text }) => ({ title: text, description: `Searches. ${text}` }),
  result: () => ({}),
  error: () => ({}),
  failure: () => ({}),
} satisfies Record<string, (attack: Poisoned) => Partial<FakeTool>>
type Where = keyof typeof places

const kinds = Object.keys(places) as Where[]
const { listed, canary, places: hosts, env } = useAttackersHosts()
const mcp = fakeMcp()

const model = scriptedModel((asked, answers) => {
  const said = asked.messages.find(({ role }) => role === 'user') as { text: string }
  const [, name = ''] = /^read (\w+)$/.exec(said.text) ?? []
  const isTold = /^(result|error|failure)_/.test(name)
  const lists = [
    ['growth_list_queue', {}] as [string, object],
    ['growth_list_learnings', {}] as [string, object],
  ]
  if (answers === 0)
    return {
      calls: [
        ...lists,
        isTold ? [`shop__${name}`, {}] : ['use_tools', { names: [`shop__${name}`] }],
      ],
    }
  const attack = attackIn(seenIn(asked))
  const calls = all().find(({ id }) => id === attack)?.obeyed[answers - 1]
  return calls ? { calls } : { text: `Done. ${seenIn(asked).slice(0, 500)}` }
})

const seenIn = (asked: ThinkRequest): string => JSON.stringify(asked.tools) + readIn(asked)

const app = useApp(() => ({ overrides: { thinker: model, mcpClient: mcp }, env: env() }))

const attacksIn = (where: Where) => poisoned(hosts(), kinds.indexOf(where))
/**
 * Each wish once in a definition and once in what a call gives: what a job may do then depends on
 * which of the two it has read.
 */
const all = () =>
  kinds.flatMap((where, nth) =>
    attacksIn(where)
      .filter(({ id }) => (id + nth) % 2 === 0)
      .map((attack) => ({ ...attack, where, name: `${where}_${attack.id}` })),
  )

test('nothing comes of what a server says but questions to a person', async () => {
  const { tenantId } = await newTarget(app)
  const tried = all()
  expect(tried.length).toBeGreaterThan(50)
  mcp.tools = tried.map(({ where, name, ...attack }) => ({
    ...SEARCH,
    inputSchema: { type: 'object' },
    name,
    ...places[where](attack),
  }))
  mcp.answer = async ({ name }) => {
    const { where, text } = tried.find((one) => one.name === name)!
    if (where === 'failure') throw new Error(text)
    return { text, isError: where === 'error' }
  }
  const { ruled } = await serverAdmin(app, tenantId)
  await ruled(tried.map(({ name }) => `shop__${name}`))
  const { personId, sessionId } = await signedIn(app, tenantId, 'owner')
  const before = await stateOf(app, tenantId)
  for (const { name } of tried)
    await turn(app, {
      content: `read ${name}`,
      by: { kind: 'session', id: sessionId, personId },
      tenantId,
    })
  await settled(app, tenantId)

  expect(await stateOf(app, tenantId)).toEqual(before)
  expect([canary.requests, listed.requests.filter(({ url }) => url.length > 200)]).toEqual([[], []])
  // Only what was to be read was called, once each.
  const called = tried.filter(
    ({ where }) => where === 'result' || where === 'error' || where === 'failure',
  )
  expect(mcp.calls.map(({ name }) => name).toSorted()).toEqual(
    called.map(({ name }) => name).toSorted(),
  )
  // Every text but that of a failure, which is never shown, was read and obeyed as far as the agent
  // let the model.
  const read = new Set(model.turns.flatMap((asked) => attackIn(seenIn(asked)) ?? []))
  expect(read.size).toBe(tried.filter(({ where }) => where !== 'failure').length)
  const [{ asked } = { asked: 0 }] = await app.owner<
    { asked: number }[]
  >`select count(*)::int as asked from agent_approval
    where tenant_id = ${tenantId} and status = 'pending'`
  expect(asked).toBeGreaterThan(read.size / 4)
}, 240_000)

test('a renamed tool with a poisoned description is never shown to the model', async () => {
  const { tenantId } = await newWorkspace(app)
  mcp.tools = [SEARCH]
  const { ruled, refresh } = await serverAdmin(app, tenantId)
  const id = await ruled(['shop__search'])
  const [attack] = attacksIn('description')
  mcp.tools = [
    { ...SEARCH, name: 'search_better', description: attack!.text },
    { ...SEARCH, description: attack!.text },
  ]
  await refresh(id)
  model.turns.length = 0
  const { personId, sessionId } = await signedIn(app, tenantId, 'owner')
  for (const name of ['search', 'search_better'])
    await turn(app, {
      content: `read ${name}`,
      by: { kind: 'session', id: sessionId, personId },
      tenantId,
    })
  await settled(app, tenantId)
  expect(model.turns.length).toBeGreaterThanOrEqual(4)
  for (const asked of model.turns)
    expect([seenIn(asked).includes('[[attack'), asked.system.includes('shop__')]).toEqual([
      false,
      false,
    ])
})
