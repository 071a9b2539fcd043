/**
 * A private conversation is seen by the person who began it and the people they have added, and so
 * is all that is made of it.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { agentResources } from '#contract/agent-resources'
import { braces, type NamedOp, nameOperations } from '#contract/op'
import type { Role } from '#kernel/roles'
import { SECRET, useSecrets } from '#test/support/agent/secret-conversations'
import { newWorkspace } from '#test/support/contract/prepare'
import { eventually } from '#test/support/eventually'
import { openStream } from '#test/support/http/event-stream'
import { connectMcp } from '#test/support/mcp/mcp'
import { type SignedIn, signedIn } from '#test/support/session'

const { app, send, say, keyOf } = useSecrets()

interface Ids {
  conversation: string
  /** Answered. */
  job: string
  answer: string
  /** It waits for an approval, as its child does. */
  waiting: string
  child: string
  approval: string
  childApproval: string
}

let tenantId: string
let key: string
let starter: SignedIn
let friend: SignedIn
let ids: Ids
const others: Partial<Record<Role | 'key' | "editor's key", string>> = {}

/** Of a job and its children. */
const approvalsOf = (job: string) =>
  app.owner<{ id: string; job_id: string }[]>`select id, job_id from agent_approval
    where job_id = ${job} or job_id in (select id from agent_job where parent_id = ${job})`

beforeAll(async () => {
  ;({ tenantId, key } = await newWorkspace(app))
  starter = await signedIn(app, tenantId, 'editor')
  friend = await signedIn(app, tenantId, 'viewer')
  for (const role of ['owner', 'editor', 'approver', 'viewer'] as const)
    others[role] = (await signedIn(app, tenantId, role)).key
  others.key = key
  others["editor's key"] = await keyOf(others.editor!)
  const first = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
  const conversationId = first.job.conversationId
  const waiting = await say(starter.key, `${SECRET} resume`, { conversationId })
  const parent = await say(starter.key, `${SECRET} delegate`, { conversationId })
  const [childApproval] = await eventually(
    () => approvalsOf(parent.job.id),
    (rows) => rows.length === 1,
  )
  const [approval] = await approvalsOf(waiting.job.id)
  ids = {
    conversation: conversationId,
    job: first.job.id,
    answer: first.answer.id,
    waiting: waiting.job.id,
    child: childApproval!.job_id,
    approval: approval!.id,
    childApproval: childApproval!.id,
  }
  const verdict = { messageId: ids.answer, verdict: 'down', correction: SECRET }
  expect(
    (await send(starter.key, 'POST', `conversations/${conversationId}/feedback`, verdict)).status,
  ).toBe(201)
})

/**
 * What somebody else gets of each operation of the agent. `hidden`: 404, for each of these paths.
 * `without`: nothing of the conversation is in the answer. `other`: why it has nothing to do with
 * conversations.
 */
type Row =
  | { hidden: (ids: Ids) => { path: Record<string, string>; body?: object }[] }
  | { without: true }
  | { other: string }

const ofConversation = (body?: object): Row => ({
  hidden: ({ conversation: id }) => [{ path: { id }, ...(body ? { body } : {}) }],
})
const ofJobs: Row = {
  hidden: ({ job, waiting, child }) => [job, waiting, child].map((id) => ({ path: { id } })),
}
const ofApprovals: Row = {
  hidden: ({ approval, childApproval }) =>
    [approval, childApproval].map((id) => ({ path: { id } })),
}
const ofPeople: Row = {
  hidden: ({ conversation: id }) => [{ path: { id, personId: friend.personId } }],
}
const without: Row = { without: true }
const records = (what: string): Row => ({
  other: `${what} are the workspace's, whoever asked the agent for them`,
})

const table: Record<string, Row> = {
  'agent.conversations.list': without,
  'agent.conversations.create': { other: 'it begins another' },
  'agent.conversations.get': ofConversation(),
  'agent.conversations.update': ofConversation({ title: 'Mine' }),
  // Owners can delete it: deleted-conversations.test.ts.
  'agent.conversations.remove': ofConversation(),
  'agent.conversations.messages': ofConversation(),
  'agent.conversations.events': ofConversation(),
  'agent.conversations.send': ofConversation({ content: 'Hello' }),
  'agent.messages.send': {
    hidden: ({ conversation }) => [
      { path: {}, body: { content: 'Hello', conversationId: conversation } },
    ],
  },
  'agent.conversationPeople.add': ofPeople,
  'agent.conversationPeople.remove': ofPeople,
  'agent.conversationFeedback.list': ofConversation(),
  'agent.conversationFeedback.give': {
    hidden: ({ conversation: id, answer }) => [
      { path: { id }, body: { messageId: answer, verdict: 'up' } },
    ],
  },
  'agent.feedback.list': without,
  'agent.jobs.list': without,
  'agent.jobs.get': ofJobs,
  'agent.jobs.trace': ofJobs,
  'agent.jobs.events': ofJobs,
  'agent.jobs.cancel': ofJobs,
  'agent.tasks.list': without,
  'agent.tasks.create': { other: 'a task has no conversation' },
  'agent.tasks.get': ofJobs,
  'agent.tasks.cancel': ofJobs,
  // Those who may decide see the call alone: private-people.test.ts.
  'agent.approvals.list': without,
  'agent.inbox.list': without,
  'agent.approvals.get': ofApprovals,
  'agent.approvals.approve': ofApprovals,
  'agent.approvals.reject': ofApprovals,
  'agent.usage.get': without,
  'agent.analytics.get': without,
  'agent.channelReplies.list': without,
  'agent.channelReplies.get': {
    other: 'the text of a private one is hidden: private-channels.test.ts',
  },
  'agent.channelReplies.send': { other: 'as above' },
  'agent.channelReplies.discard': { other: 'as above' },
  'agent.channelReplies.settle': { other: 'as above' },
  'agent.actions.call': { other: 'a direct call is made in no conversation' },
}

const ofWorkspace: [prefix: string, row: Row][] = [
  ['agent.schedules.', records('schedules')],
  ['agent.webhookRules.', records('webhook rules')],
  ['agent.tools.', records('tools')],
  ['agent.toolRules.', records('rules for tools')],
  ['agent.memories.', records('memories, but for those of a person,')],
  ['agent.playbooks.', records('playbooks')],
  ['agent.artifacts.', records('artifacts')],
  ['agent.documents.', records('documents')],
  ['agent.mcpServers.', records('MCP servers')],
  ['agent.channels.', records('channels')],
  ['agent.channelIdentities.', records('identities')],
  ['agent.modules.', records('modules')],
]

const all: NamedOp[] = Object.values(agentResources).flatMap((resource) =>
  nameOperations(resource as never),
)
const rowOf = ({ id }: NamedOp): Row | undefined =>
  table[id] ?? ofWorkspace.find(([prefix]) => id.startsWith(prefix))?.[1]

test('every operation of the agent has a row, and every row an operation', () => {
  expect(all.filter((o) => rowOf(o) === undefined).map(({ id }) => id)).toEqual([])
  expect(Object.keys(table).filter((id) => !all.some((o) => o.id === id))).toEqual([])
})

const urlOf = (o: NamedOp, path: Record<string, string>): string =>
  Object.entries(path).reduce(
    (url, [name, value]) => url.replace(`{${name}}`, value),
    braces(o.path),
  )

/** Who may not decide about the call of the approvals above, either. */
const outsiders = ['editor', 'viewer', 'key', "editor's key"] as const
const asked = all.flatMap((o) => {
  const row = rowOf(o)
  return row && !('other' in row) ? [[o.id, o, row] as const] : []
})

describe('another member finds nothing of it', () => {
  test.each(asked)('by %s', async (id, o, row) => {
    const isOfCalls = id === 'agent.inbox.list' || id.startsWith('agent.approvals.')
    const mayDecide = isOfCalls ? ['owner', 'approver'] : []
    const mayAct = id === 'agent.conversations.remove' ? ['owner'] : mayDecide
    for (const reader of [...outsiders, 'owner', 'approver'] as const) {
      if (mayAct.includes(reader)) continue
      const by = others[reader]!
      if ('without' in row) {
        const { status, text } = await app.send(o.method, braces(o.path), { key: by })
        expect([reader, status]).toEqual([reader, 200])
        for (const hidden of [SECRET, ...Object.values(ids)])
          expect([reader, text.includes(hidden)]).toEqual([reader, false])
      } else if ('hidden' in row)
        for (const { path, body } of row.hidden(ids)) {
          const { status, text } = await app.send(o.method, urlOf(o, path), {
            key: by,
            ...(o.method === 'GET' ? {} : { body: body ?? {} }),
          })
          // A key, or a role, that may not call the operation at all gets no further.
          const mayCall = !text.includes('a signed-in person') && !text.includes('cannot do this')
          expect([reader, mayCall ? status : 404]).toEqual([reader, 404])
          expect(text).not.toContain(SECRET)
        }
    }
  })

  test('by streams, and by tools over MCP', async () => {
    for (const path of [
      `conversations/${ids.conversation}`,
      `jobs/${ids.job}`,
      `jobs/${ids.child}`,
    ]) {
      await using stream = await openStream(`${app.url}/api/v1/agent/${path}/events`, {
        key: others.owner!,
      })
      expect(stream.response.status).toBe(404)
    }
    await using mcp = await connectMcp(app.url, {
      key: others["editor's key"]!,
      query: '?toolsets=agent',
    })
    for (const [name, args] of [
      ['agent_get_job', { id: ids.job }],
      ['agent_cancel_job', { id: ids.waiting }],
      ['agent_send_message', { content: 'Hello', conversationId: ids.conversation }],
      ['agent_list_approvals', {}],
    ] as const) {
      const answer = await mcp.call(name, args)
      expect([name, answer.isError ?? false]).toEqual([name, name !== 'agent_list_approvals'])
      expect(JSON.stringify(answer)).not.toContain(SECRET)
    }
  })
})

describe('whoever began it', () => {
  test('sees all of it, by a key of theirs as well', async () => {
    for (const by of [starter.key, await keyOf(starter.key)]) {
      const { body } = await send(by, 'GET', `conversations/${ids.conversation}`)
      expect(body.conversation).toMatchObject({
        visibility: 'private',
        startedBy: starter.personId,
        people: [],
      })
      expect(body.messages[0].content).toBe(`${SECRET} hello`)
      const list = (await send(by, 'GET', 'conversations?visibility=private')).body.conversations
      expect(list.map(({ id }: { id: string }) => id)).toContain(ids.conversation)
      expect((await send(by, 'GET', 'conversations?visibility=workspace')).text).not.toContain(
        SECRET,
      )
      const jobs = (await send(by, 'GET', 'jobs')).body.jobs.map(({ id }: { id: string }) => id)
      expect(jobs).toEqual(expect.arrayContaining([ids.job, ids.waiting, ids.child]))
      for (const id of [ids.job, ids.child])
        expect((await send(by, 'GET', `jobs/${id}/trace`)).status).toBe(200)
      // The role of the starter may not decide, but sees what was asked.
      expect((await send(by, 'GET', `approvals/${ids.approval}`)).body.approval.goal).toBe(
        `${SECRET} resume`,
      )
    }
    expect((await send(starter.key, 'POST', `approvals/${ids.approval}/approve`, {})).status).toBe(
      403,
    )
  })
})
