/**
 * The tools of the product in jobs that messages of channels have begun: what happens there without
 * a person.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { capabilityResources } from '#contract/agent-resources'
import { channelNames } from '#contract/channel-names'
import { operations } from '#contract/index'
import { isAgentTool, type NamedOp, nameOperations } from '#contract/op'
import { toolCaller } from '#decisions/agent/caller'
import {
  isAnswerHeld,
  isForStranger,
  STRANGERS_TOOLS,
  type Trusted,
  trustOf,
} from '#domain/agent/channel/trust'
import { fetchAsks } from '#domain/agent/job/fetching'
import { offeredTools } from '#domain/agent/job/offer'
import type { ToolClass } from '#domain/agent/job/step'
import { type RuleDecision, verdictOf } from '#domain/agent/job/verdict'
import { type Role, roles } from '#kernel/roles'
import { mayRun } from '#ops/engine/access'
import { runs } from '#test/support/property'

interface Tool {
  name: string
  class: ToolClass
  /** Undefined for a tool of an MCP server, which everybody may call. */
  o?: NamedOp
}

const ours: Tool[] = [
  ...operations,
  ...Object.values(capabilityResources).flatMap((resource) => nameOperations(resource)),
]
  .filter(isAgentTool)
  .map((o) => ({ name: o.tool!, class: o.agent as ToolClass, o }))

const inner: Tool[] = ['use_tools', 'search_conversation'].map((name) => ({ name, class: 'read' }))
const served: Tool[] = [{ name: 'crm_send', class: 'outside_write' }]
const all = [...ours, ...inner, ...served]

interface World {
  message: {
    connection: Parameters<typeof trustOf>[0] & { config: Record<string, unknown> }
    identity: { id: string; person_id: string } | undefined
  }
  role: Role
  /** What the job has read since. */
  read: string[]
  rules: Record<string, RuleDecision>
  unasked: number
  url: string
}

const world: fc.Arbitrary<World> = fc.record({
  message: fc.record({
    connection: fc.record({
      id: fc.constant('c-1'),
      channel: fc.constantFrom(...channelNames),
      sender_policy: fc.constantFrom('members', 'anyone'),
      config: fc.constantFrom({}, { reply: 'auto' }),
    }),
    identity: fc.option(fc.constant({ id: 'i-1', person_id: 'p-1' }), { nil: undefined }),
  }),
  role: fc.constantFrom(...roles),
  read: fc.uniqueArray(
    fc.constantFrom('fetch_url example.com', 'search_documents', 'mcp crm', 'conversation'),
  ),
  rules: fc.dictionary(
    fc.constantFrom(...all.map(({ name }) => name)),
    fc.constantFrom('allow', 'ask', 'deny'),
    { maxKeys: 20 },
  ),
  unasked: fc.integer({ min: 0, max: 8 }),
  url: fc.constantFrom(
    'https://en.wikipedia.org/wiki/Tendril',
    'https://allowed.example/a',
    'https://evil.example/',
  ),
})

const callerOf = ({ on_behalf }: Trusted, role: Role) =>
  toolCaller('t', on_behalf, {
    ...(isForStranger(on_behalf)
      ? { role: 'viewer', scopes: ['api:read', 'workspace:use'] }
      : { role, scopes: null }),
    name: null,
  })

/** The tools whose calls are carried out, none of them asked of a person. */
const unattended = (trust: Trusted, { role, read, rules, unasked, url }: World): Tool[] => {
  const caller = callerOf(trust, role)
  const may = (name: string): boolean => {
    const { o } = all.find((tool) => tool.name === name)!
    return o === undefined || mayRun(o, caller)
  }
  const denied = new Set(Object.keys(rules).filter((name) => rules[name] === 'deny'))
  const offered = offeredTools(all, {
    job: { tools: trust.tools, shown: [] },
    mayRun: may,
    readsOnly: role === 'viewer',
    denied,
  })
  const taint = [...trust.taint, ...read]
  const asks = fetchAsks({ url, hosts: ['allowed.example'], taint, unasked, inChannel: true })
  return offered.filter(({ name, class: of }) => {
    const facts = {
      class: of,
      offered: true,
      mayRun: may(name),
      taint,
      rule: rules[name],
      asks: of === 'outside_read' ? asks : [],
    }
    return verdictOf(facts).decision === 'allow'
  })
}

const carriesOut = ({ class: of }: Tool): boolean =>
  of === 'commit' || of === 'outside_read' || of === 'outside_write'
const changes = (tool: Tool): boolean => carriesOut(tool) || tool.class === 'draft'
/** What these show a stranger is public: test/flow/agent/channel/strangers.test.ts. */
const PUBLIC = [
  'get_current_time',
  'list_playbooks',
  'read_playbook',
  'search_documents',
  'read_document',
]
const showsPrivate = ({ name }: Tool): boolean => !PUBLIC.includes(name)

test('no job has private data, text of people outside, and a way out or a change that nobody is asked about', () => {
  fc.assert(
    fc.property(world, (given) => {
      const { connection, identity } = given.message
      const trust = trustOf(connection, { id: 'sender', identity })
      if (trust.kind === 'none') return
      const free = unattended(trust, given)
      const hasForeign = trust.untrusted || trust.taint.length + given.read.length > 0
      const hasPrivate = !isForStranger(trust.on_behalf) || free.some(showsPrivate)
      const goesOut =
        free.some(carriesOut) ||
        (isForStranger(trust.on_behalf) && !isAnswerHeld(trust.on_behalf, connection.config))
      expect([hasForeign, hasPrivate, goesOut]).not.toEqual([true, true, true])
      if (hasForeign) expect(free.filter(changes)).toEqual([])
      // Whoever may have forged the sender only asks, and stops nothing: the answer goes to the
      // sender whose name it is.
      if (trust.untrusted) expect(free.every(({ class: of }) => of === 'read')).toBe(true)
    }),
    runs(3_000),
  )
})

test('a member whose name cannot be forged drafts and reads as in the app, and nothing that is published goes unasked', () => {
  const connection = { id: 'c-1', channel: 'slack', sender_policy: 'members', config: {} } as const
  const trust = trustOf(connection, {
    id: 'U1',
    identity: { id: 'i-1', person_id: 'p-1' },
  }) as Trusted
  const given = {
    message: { connection, identity: undefined },
    role: 'owner' as const,
    read: [],
    rules: {},
    unasked: 0,
    url: 'https://en.wikipedia.org/',
  }
  const free = unattended(trust, given).map((tool) => tool.class)
  expect([...new Set(free)].toSorted()).toEqual(['draft', 'outside_read', 'read', 'safe'])
})

test('a stranger is offered the five tools, each of which only reads, and nobody is offered what takes a signed-in person', () => {
  expect(
    ours
      .filter(({ name }) => STRANGERS_TOOLS.includes(name))
      .map((tool) => [tool.class, tool.name])
      .toSorted(),
  ).toEqual(STRANGERS_TOOLS.map((name) => ['read', name]).toSorted() as never)
  const member = callerOf(
    trustOf(
      { id: 'c', channel: 'slack', sender_policy: 'members' },
      { id: 's', identity: { id: 'i', person_id: 'p' } },
    ) as Trusted,
    'owner',
  )
  expect(member.scopes.has('session')).toBe(false)
})
