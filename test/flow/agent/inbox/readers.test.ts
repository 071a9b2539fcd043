/** What each reader sees of what waits, and what each may decide. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { argumentsHash } from '#domain/agent/hash'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import {
  makeApproval,
  makeConversation,
  makeDraft,
  makeJob,
  makePlaybook,
} from '#test/support/agent/records'
import { makeReply, makeReplyInDoubt } from '#test/support/channels/replies'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/database/sample'
import { insertItem } from '#test/support/database/writes'
import { type SignedIn, signedIn } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const SECRET = 'the merger'
const HIDDEN = '(said in a private conversation)'
const roles = ['owner', 'approver', 'editor', 'viewer'] as const

let workspace: Workspace
let starter: SignedIn
const people = {} as Record<Role, SignedIn>
const ids: Record<string, string> = {}

/** A tool whose rule is for another definition than the present one. */
const changeTool = async (tenantId: string): Promise<string> => {
  const server = sampleOf(mcpServerRecord, 'tides', { id: newId(), name: 'Tides', enabled: true })
  const tool = sampleOf(mcpToolRecord, 'tides', {
    server_id: server.id,
    name: 'tides_tomorrow',
    parameters: { type: 'object' },
    hash: 'b'.repeat(64),
  })
  const rows = { mcp_server: { ...server, args: [] }, mcp_tool: tool }
  for (const [table, row] of Object.entries(rows)) {
    const values = Object.entries({ ...row, tenant_id: tenantId }).map(([name, value]) => [
      name,
      ['parameters', 'args'].includes(name) ? app.owner.json(value as never) : value,
    ])
    await app.owner`insert into ${app.owner(table)} ${app.owner(Object.fromEntries(values))}`
  }
  await app.owner`insert into agent_tool_rule (id, tenant_id, tool_name, decision, definition_hash,
    set_by, server_id, created_at, updated_at) values (${newId()}, ${tenantId}, 'tides_tomorrow',
    'allow', ${'a'.repeat(64)}, ${newId()}, ${server.id}, now(), now())`
  return (tool as unknown as { id: string }).id
}

const callOf = (tool_name: string, args: Record<string, unknown>, more: object) => ({
  tool_name,
  arguments: args,
  arguments_hash: argumentsHash(args),
  ...more,
})

beforeAll(async () => {
  workspace = await newWorkspace(app)
  const { tenantId } = workspace
  for (const role of roles) people[role] = await signedIn(app, tenantId, role)
  starter = await signedIn(app, tenantId, 'editor')
  ids.draft = await insertItem(app, tenantId, { body: 'A draft\u200B of ours' })
  const conversation = await makeConversation(workspace, {
    visibility: 'private',
    person_id: starter.personId,
    title: SECRET,
  })
  const of = { conversation_id: conversation.id, goal: SECRET }
  const approving = {
    ...of,
    subject_id: ids.draft,
    subject: {
      records: [{ kind: 'item', id: ids.draft, sha256: '00' }],
      account: null,
      text: 'A draft of ours',
      sha256: 'c'.repeat(64),
    },
    why: ['approves', `untrusted: ${SECRET}`],
  }
  ids.ofDraft = (
    await makeApproval(workspace, callOf('growth_approve_item', { id: ids.draft }, approving))
  ).id
  const resuming = {
    ...of,
    summary: 'Resume automation',
    expires_at: new Date(Date.now() + 60_000),
  }
  ids.call = (await makeApproval(workspace, callOf('growth_resume_automation', {}, resuming))).id
  ids.open = (await makeApproval(workspace, { summary: 'Read the overview' })).id
  // Nobody can decide about it any more.
  await makeApproval(workspace, { summary: 'Too late', expires_at: new Date(Date.now() - 1) })
  const { id: job_id } = await makeJob(workspace, {})
  ids.held = await makeReply(workspace, {
    text: `${SECRET}, in short`,
    conversation_id: conversation.id,
    job_id,
  })
  ids.unknown = (await makeReplyInDoubt(workspace)).id
  await makeReply(workspace, { status: 'sent' })
  const playbook = await makePlaybook(workspace, { name: 'Launches' })
  ids.playbook = (
    await makeDraft(workspace, { playbook_id: playbook.id, rationale: 'Shorter.' })
  ).id
  const archived = await makePlaybook(workspace, { status: 'archived' })
  await app.owner`update playbook set status = 'archived' where id = ${archived.id}`
  await makeDraft(workspace, { playbook_id: archived.id })
  ids.tool = await changeTool(tenantId)
})

const inboxOf = async (key: string, query = '') => {
  const { status, body, text } = await app.send('GET', `/api/v1/inbox?${query}`, { key })
  expect([status, body.error]).toEqual([200, undefined])
  return { ...body, text }
}

const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id
// biome-ignore lint/suspicious/noExplicitAny: entries of every kind
const names = ({ entries }: { entries: any[] }): string[] => entries.map(({ id }) => nameOf(id))
// biome-ignore lint/suspicious/noExplicitAny: entries of every kind
const entryOf = ({ entries }: { entries: any[] }, name: string): any =>
  entries.find(({ id }) => id === ids[name])

describe('of a workspace where the agent asks and answers', () => {
  const rest = ['open', 'held', 'unknown', 'playbook', 'tool', 'draft']

  test('each role sees the calls that it may decide, and those of conversations that it sees', async () => {
    const seen = Object.fromEntries(
      await Promise.all(
        roles.map(async (role) => [role, names(await inboxOf(people[role].key))] as const),
      ),
    )
    expect(seen).toEqual({
      owner: ['call', ...rest],
      approver: ['call', ...rest],
      editor: rest,
      viewer: rest,
    })
    expect(names(await inboxOf(starter.key))).toEqual(['call', ...rest])
    const counts = { call: 2, reply: 2, playbook: 1, tool_change: 1, draft: 1 }
    expect((await inboxOf(people.approver.key)).counts).toMatchObject(counts)
    expect((await inboxOf(people.viewer.key)).counts).toMatchObject({ ...counts, call: 1 })
  })

  test('a call that asks about a draft is in its entry for those who see the call', async () => {
    for (const [key, may] of [
      [people.owner.key, true],
      [people.approver.key, true],
      [starter.key, false],
      [people.editor.key, undefined],
    ] as const) {
      const { calls } = entryOf(await inboxOf(key), 'draft')
      expect(calls.map((one: Record<string, unknown>) => [one.id, one.can_decide])).toEqual(
        may === undefined ? [] : [[ids.ofDraft, may]],
      )
    }
  })

  test('each role is told what it may decide', async () => {
    const may = async (role: Role) => {
      const found = await inboxOf(people[role].key)
      return names(found).filter((name) => entryOf(found, name).can_decide)
    }
    expect(await may('owner')).toEqual(['call', ...rest])
    expect(await may('approver')).toEqual(['call', ...rest])
    // Everybody may read the overview.
    for (const role of ['editor', 'viewer'] as const) expect(await may(role)).toEqual(['open'])
  })

  test('what was said in private is told to nobody else, and found by nobody else', async () => {
    for (const role of roles) {
      const found = await inboxOf(people[role].key)
      expect(found.text).not.toContain(SECRET)
      expect(entryOf(found, 'held')).toMatchObject({
        title: HIDDEN,
        content_hash: null,
        mark: null,
      })
      expect(names(await inboxOf(people[role].key, 'q=merger'))).toEqual([])
    }
    const own = await inboxOf(starter.key, 'q=merger')
    expect([names(own), entryOf(own, 'held').title]).toEqual([['held'], `${SECRET}, in short`])
    // The same where calls are read one by one: they say only that the job has read something.
    const path = `/api/v1/agent/approvals/${ids.ofDraft}`
    const { body, text } = await app.send('GET', path, { key: people.approver.key })
    expect(text).not.toContain(SECRET)
    expect(body.approval).toMatchObject({
      why: ['approves', `untrusted: ${HIDDEN}`],
      goal: HIDDEN,
      arguments: { id: ids.draft },
      subject: { text: 'A draft of ours' },
      may_decide: true,
    })
    expect((await app.send('GET', path, { key: starter.key })).text).toContain(SECRET)
  })

  test('a key that may not use the agent sees drafts alone, and decides as far as its scopes go', async () => {
    const key = async (...scopes: ('api:read' | 'api:write' | 'workspace:use')[]) =>
      (await app.newKey(scopes, workspace.tenantId)).api_key
    const without = await inboxOf(await key('api:read', 'api:write'))
    expect([names(without), without.counts.call, without.counts.reply]).toEqual([['draft'], 0, 0])
    expect(without.counts.playbook + without.counts.tool_change).toBe(0)
    expect(entryOf(without, 'draft')).toMatchObject({ calls: [], can_decide: true })
    expect(names(await inboxOf(await key('api:read'), 'kind=call,reply'))).toEqual([])
    // A key of the workspace sees what all of it sees, and only people decide about the agent.
    const reading = await inboxOf(await key('api:read', 'workspace:use'))
    expect(names(reading)).toEqual(rest)
    expect(names(reading).filter((name) => entryOf(reading, name).can_decide)).toEqual([])
  })

  test('each kind says what its record is', async () => {
    const found = await inboxOf(people.owner.key)
    expect(entryOf(found, 'call')).toMatchObject({
      kind: 'call',
      record: 'approval',
      status: 'pending',
      title: 'Resume automation',
      source: { kind: 'agent' },
      expires_at: expect.stringMatching(/^20/),
    })
    expect(entryOf(found, 'unknown')).toMatchObject({ record: 'reply', status: 'unknown' })
    expect(entryOf(found, 'playbook')).toMatchObject({
      record: 'playbook_version',
      title: 'Shorter.',
      parent: { name: 'Launches' },
      revision: 2,
    })
    expect(entryOf(found, 'tool')).toMatchObject({
      record: 'mcp_tool',
      status: 'changed',
      title: 'tides_tomorrow',
      parent: { name: 'Tides' },
      content_hash: 'b'.repeat(64),
    })
    // A character that nobody would see.
    expect(entryOf(found, 'draft')).toMatchObject({ warnings: 1, length: 10 })
    const filtered = await inboxOf(people.owner.key, 'source=agent')
    expect(names(filtered)).toEqual(['call', 'open', 'held', 'unknown'])
  })

  test('a decision takes an entry out of the list of everybody', async () => {
    const { id } = await makeApproval(workspace, { summary: 'Read it once' })
    expect(names(await inboxOf(people.owner.key))).toContain(id)
    const decided = await app.send('POST', `/api/v1/agent/approvals/${id}/reject`, {
      key: people.viewer.key,
      body: {},
    })
    expect(decided.status).toBe(200)
    for (const role of roles) expect(names(await inboxOf(people[role].key))).not.toContain(id)
  })
})
