/**
 * Who decides about a call is who can make it: an approver who asks for a draft cannot. It becomes
 * an approval all the same, and the answer, the page, the terminal and the channel name those who
 * can. Where nobody can, the call is refused at once.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { eventually } from '#test/support/app'
import { devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { connectMcp } from '#test/support/mcp/mcp'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

type Call = [string, object]
const DRAFT: Call = ['growth_add_learning', { kind: 'worked', note: 'Numbers first' }]
const script: { call: Call } = { call: DRAFT }
beforeEach(() => {
  script.call = DRAFT
})
const app = useApp({
  model: scriptedModel((asked, answers) =>
    answers === 0 ? { calls: [script.call as never] } : { text: resultsIn(asked).join('\n') },
  ),
})

const place = async (...roles: Role[]) => {
  const { tenantId } = await app.newWorkspace()
  const people: SignedIn[] = []
  for (const role of roles) people.push(await signedIn(app, tenantId, role))
  for (const [n, { personId }] of people.entries())
    await app.owner`update person set name = ${NAMES[n]!} where id = ${personId}`
  return { tenantId, people }
}
const NAMES = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Fay', 'Gus']

const ask = async (key: string) => {
  const { status, body } = await app.send('POST', '/api/v1/agent/messages', {
    key,
    body: { content: 'Keep this' },
  })
  expect(status).toBe(201)
  return body.job.id as string
}
const jobOf = async (key: string, id: string) =>
  (await app.send('GET', `/api/v1/agent/jobs/${id}`, { key })).body
const until = (key: string, id: string, ...statuses: string[]) =>
  eventually(
    () => jobOf(key, id),
    ({ job }) => statuses.includes(job.status),
  )

describe('an approver who asks for a draft', () => {
  test('gets an approval that names the roles and people who can decide, and says that it is not the approver’s', async () => {
    const { tenantId, people } = await place('approver', 'editor', 'owner', 'viewer')
    const [ben, ada, cleo] = [people[0]!, people[1]!, people[2]!]
    const id = await ask(ben.key)
    const [approval] = (await until(ben.key, id, 'waiting_approval')).approvals
    expect(approval).toMatchObject({
      tool_name: 'growth_add_learning',
      status: 'pending',
      why: ['role'],
      may_decide: false,
    })
    const named = [
      { kind: 'person', id: cleo.personId, name: 'Cleo' },
      { kind: 'person', id: ada.personId, name: 'Ben' },
    ]
    expect(approval.deciders).toEqual({ roles: ['owner', 'editor'], people: named, more: false })
    const path = `/api/v1/agent/approvals/${approval.id}`
    // The same in the list and alone, to whom it is to decide, and to a key: without names.
    for (const [key, may] of [
      [ada.key, true],
      [cleo.key, true],
      [people[3]!.key, false],
    ] as const) {
      const { body } = await app.send('GET', path, { key })
      expect([body.approval.may_decide, body.approval.deciders]).toEqual([may, approval.deciders])
    }
    const { api_key: key } = await app.newKey(
      ['api:read', 'api:write', 'workspace:use', 'mcp:use'],
      tenantId,
    )
    const [listed] = (await app.send('GET', '/api/v1/agent/approvals?status=pending', { key })).body
      .approvals
    expect(listed).toMatchObject({ may_decide: false, deciders: { roles: ['owner', 'editor'] } })
    expect(listed.deciders.people).toEqual(named.map((one) => ({ ...one, name: null })))
    expect((await app.send('POST', `${path}/approve`, { key: ben.key, body: {} })).status).toBe(403)
    const done = await app.send('POST', `${path}/approve`, { key: ada.key, body: {} })
    expect([done.status, done.body.approval.deciders, done.body.approval.may_decide]).toEqual([
      200,
      null,
      false,
    ])
    expect((await until(ben.key, id, 'completed')).answer.content).toContain('Numbers first')
  })

  test('reads it in the channel, without a prompt; an editor who asks there decides alone', async () => {
    const { tenantId, people } = await place('approver', 'editor', 'owner')
    const channel = await devChannel(app, { config: { approvals: 'all' } }, tenantId)
    for (const [n, { personId }] of people.entries()) {
      const identity = await linked(app, channel, `sender${n}`, personId)
      await app.owner`update channel_identity set reply_to =
        ${app.owner.json({ sender: `sender${n}` })} where id = ${identity}`
    }
    await postDev(app.url, channel, { sender: 'sender0', text: 'Keep this' })
    const told = await eventually(
      async () => [
        ...(await app.owner<{ recipient: string; text: string }[]>`
          select recipient, text from channel_reply where connection_id = ${channel.id}
            order by recipient`),
      ],
      (all) => all.length > 2,
    )
    expect(told.map(({ recipient }) => recipient)).toEqual(['sender0', 'sender1', 'sender2'])
    const own = told[0]!.text
    expect(own).toContain('which somebody else must take')
    expect(own).toMatch(/Here owners and editors can decide: Cleo, (.+, )?Ben\./)
    expect(own).not.toContain('Open the link to decide')
    for (const { text } of told.slice(1)) expect(text).toContain('Open the link to decide.')
  })

  test('reads it in the answer of MCP', async () => {
    const { tenantId } = await place('editor')
    const [row] = await app.owner<
      { person_id: string }[]
    >`select person_id from member where tenant_id = ${tenantId}`
    expect(row).toBeDefined()
    script.call = ['growth_resume_automation', {}]
    const { api_key: key } = await app.newKey(
      ['api:read', 'api:write', 'workspace:use', 'mcp:use'],
      tenantId,
    )
    await using mcp = await connectMcp(app.url, { key, query: '?toolsets=agent' })
    const { structuredContent } = await mcp.call('agent_send_message', { content: 'Resume' })
    const { approvals } = structuredContent as unknown as {
      approvals: { deciders: object; may_decide: boolean }[]
    }
    expect(approvals).toMatchObject([
      { may_decide: false, deciders: { roles: ['owner', 'approver'], more: false } },
    ])
  })
})

describe('where no member may decide, and nobody is invited who could', () => {
  const alone = async (...roles: Role[]) => {
    const made = await place(...roles)
    await app.owner`update invitation set revoked_at = now() where tenant_id = ${made.tenantId}`
    return made
  }

  test('a call is refused at once, and the job goes on without it', async () => {
    const { people, tenantId } = await alone('approver')
    const { body, job } = await (async () => {
      const id = await ask(people[0]!.key)
      return { body: await until(people[0]!.key, id, 'completed', 'waiting_approval'), job: id }
    })()
    expect(body.job.status).toBe('completed')
    expect(body.answer.content).toContain(
      'nobody in this workspace can allow this call: only owners and editors can, and there are none, not even invited',
    )
    expect(await app.owner`select 1 from agent_approval where job_id = ${job}`).toHaveLength(0)
    expect(await app.owner`select 1 from learning where tenant_id = ${tenantId}`).toHaveLength(0)
  })

  test('a direct call is refused at once', async () => {
    const { people } = await alone('approver')
    script.call = DRAFT
    const { api_key: key } = await app.newKey(
      ['api:read', 'api:write', 'workspace:use'],
      (await alone()).tenantId,
    )
    const refused = await app.send('POST', '/api/v1/actions/fetch_url', {
      key,
      body: { url: 'https://example.com/a' },
    })
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      expect.stringContaining('nobody in this workspace can allow'),
    ])
    expect(people).toHaveLength(1)
  })

  test('an invitation that is open lets it wait', async () => {
    const { people, tenantId } = await alone('approver')
    await app.owner`update invitation set revoked_at = null where tenant_id = ${tenantId}`
    const id = await ask(people[0]!.key)
    expect((await until(people[0]!.key, id, 'completed', 'waiting_approval')).job.status).toBe(
      'waiting_approval',
    )
  })
})

test('the refusal of a direct call names who can decide', async () => {
  const { tenantId, people } = await place('owner')
  const { api_key: key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const send = (by: string) =>
    app.send('POST', '/api/v1/actions/fetch_url', {
      key: by,
      body: { url: 'https://example.com/a' },
    })
  expect((await send(key)).body.error.message).toEndWith(
    '; owners, editors, approvers and viewers can decide',
  )
  const asPerson = await send(people[0]!.key)
  expect(asPerson.body.error.message).toEndWith(
    '; owners, editors, approvers and viewers can decide: Ada',
  )
})
