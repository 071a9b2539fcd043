/** Who sees a private conversation, and from when until when. */

import { beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { overJob } from '#test/support/agent/agent'
import { SECRET, useSecrets } from '#test/support/agent/secret-conversations'
import { newWorkspace } from '#test/support/contract/prepare'
import { eventually } from '#test/support/eventually'
import { openStream } from '#test/support/http/event-stream'
import { type SignedIn, signedIn } from '#test/support/session'

const { app, send, say } = useSecrets()

let tenantId: string
let key: string
let starter: SignedIn
let friend: SignedIn
const others: Partial<Record<Role, string>> = {}

beforeAll(async () => {
  ;({ tenantId, key } = await newWorkspace(app))
  starter = await signedIn(app, tenantId, 'editor')
  friend = await signedIn(app, tenantId, 'viewer')
  for (const role of ['owner', 'approver', 'editor', 'viewer'] as const)
    others[role] = (await signedIn(app, tenantId, role)).key
})

test('a private conversation is begun by a person: a key of the workspace begins none, and nobody else changes who sees it', async () => {
  const refused = await send(key, 'POST', 'messages', { content: 'Hello', visibility: 'private' })
  expect([refused.status, refused.body.error.message]).toEqual([
    403,
    expect.stringContaining('only a person can begin a private conversation'),
  ])
  const { job } = await say(others.owner!, 'Hello')
  for (const by of [starter.key, key]) {
    const path = `conversations/${job.conversationId}`
    expect((await send(by, 'PATCH', path, { visibility: 'private' })).status).toBe(403)
    expect((await send(by, 'PUT', `${path}/people/${friend.personId}`)).status).toBe(403)
    expect((await send(by, 'PATCH', path, { title: 'Ours', visibility: 'workspace' })).status).toBe(
      200,
    )
  }
})

describe('people', () => {
  test('who are added see all of it, until they are removed, leave, or are no members any more', async () => {
    const { job } = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
    const path = `conversations/${job.conversationId}`
    const seen = async (by: string) =>
      (
        await Promise.all(
          [path, `${path}/messages`, `jobs/${job.id}`].map((one) => send(by, 'GET', one)),
        )
      ).map(({ status }) => status)
    expect(await seen(friend.key)).toEqual([404, 404, 404])
    const added = await send(starter.key, 'PUT', `${path}/people/${friend.personId}`)
    expect([added.status, added.body.conversation.people]).toEqual([200, [friend.personId]])
    expect(
      (await send(starter.key, 'PUT', `${path}/people/${friend.personId}`)).body.conversation
        .people,
    ).toEqual([friend.personId])
    expect(await seen(friend.key)).toEqual([200, 200, 200])
    // Seeing is not writing: a viewer writes where they began.
    expect((await send(friend.key, 'POST', `${path}/messages`, { content: 'Hi' })).status).toBe(403)
    const third = await signedIn(app, tenantId, 'editor')
    expect((await send(friend.key, 'PUT', `${path}/people/${third.personId}`)).status).toBe(403)
    await send(starter.key, 'PUT', `${path}/people/${third.personId}`)
    expect((await say(third.key, 'Hi', { conversationId: job.conversationId })).job.status).toBe(
      'completed',
    )
    expect((await send(third.key, 'DELETE', `${path}/people/${third.personId}`)).status).toBe(200)
    expect(await seen(third.key)).toEqual([404, 404, 404])
    expect(
      (await send(starter.key, 'DELETE', `${path}/people/${friend.personId}`)).body.conversation
        .people,
    ).toEqual([])
    expect(await seen(friend.key)).toEqual([404, 404, 404])
    expect((await send(starter.key, 'PUT', `${path}/people/${app.tenantId}`)).status).toBe(404)
  })

  test('who are removed from the workspace do not find it when they join again', async () => {
    const { job } = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
    const path = `conversations/${job.conversationId}`
    const third = await signedIn(app, tenantId, 'editor')
    await send(starter.key, 'PUT', `${path}/people/${third.personId}`)
    const own = await say(third.key, `${SECRET} hello`, { visibility: 'private' })
    const removed = await app.send('DELETE', `/api/v1/app/members/${third.personId}`, {
      key: others.owner!,
    })
    expect(removed.status).toBe(200)
    expect((await send(starter.key, 'GET', path)).body.conversation.people).toEqual([])
    await app.owner`insert into member (tenant_id, person_id, role)
      values (${tenantId}, ${third.personId}, 'owner')`
    expect(
      await app.owner`select id from agent_conversation where person_id = ${third.personId}`,
    ).toHaveLength(0)
    // What they began has nobody, and is everybody's no more than before.
    for (const by of [others.owner!, others.editor!, key])
      expect([
        (await send(by, 'GET', `jobs/${own.job.id}`)).status,
        (await send(by, 'GET', 'jobs')).text.includes(SECRET),
      ]).toEqual([404, false])
  })

  test('a stream ends once its reader does not see the conversation any more', async () => {
    const { job } = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
    const path = `conversations/${job.conversationId}`
    await send(starter.key, 'PUT', `${path}/people/${friend.personId}`)
    await using stream = await openStream(`${app.url}/api/v1/agent/${path}/events`, {
      key: friend.key,
    })
    expect(stream.response.status).toBe(200)
    await send(starter.key, 'DELETE', `${path}/people/${friend.personId}`)
    await stream.ended()
    expect((await send(starter.key, 'GET', path)).status).toBe(200)
  })
})

test('a conversation that is opened shows all that was said before; one that is closed hides it from others at once', async () => {
  const { job } = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
  const path = `conversations/${job.conversationId}`
  const statuses = async () => [
    (await send(others.viewer!, 'GET', path)).status,
    (await send(key, 'GET', `jobs/${job.id}`)).status,
  ]
  expect(await statuses()).toEqual([404, 404])
  expect(
    (await send(starter.key, 'PATCH', path, { visibility: 'workspace' })).body.conversation
      .visibility,
  ).toBe('workspace')
  expect(await statuses()).toEqual([200, 200])
  expect((await send(starter.key, 'PATCH', path, { visibility: 'private' })).status).toBe(200)
  expect(await statuses()).toEqual([404, 404])
})

test('an answer stored under an Idempotency-Key stays with its person: others who send the same get none of it', async () => {
  const { job } = await say(starter.key, `${SECRET} hello`, { visibility: 'private' })
  const requests: [method: string, path: string, body: object][] = [
    ['PATCH', `conversations/${job.conversationId}`, { title: SECRET }],
    ['POST', `jobs/${job.id}/cancel`, {}],
  ]
  for (const [method, path, body] of requests) {
    const repeat = (by: string) =>
      app.send(method, `/api/v1/agent/${path}`, {
        key: by,
        body,
        headers: { 'idempotency-key': `first ${path}`.replaceAll('/', ' ') },
      })
    const first = await repeat(starter.key)
    expect([first.status, (await repeat(starter.key)).body]).toEqual([200, first.body])
    for (const by of [others.owner!, others.editor!, others.viewer!, key]) {
      const { status, body } = await repeat(by)
      expect(status).toBeGreaterThanOrEqual(403)
      expect(JSON.stringify(body)).not.toContain(SECRET)
    }
  }
})

describe('its starter makes it private', () => {
  const closing = (by: string, path: string) => send(by, 'PATCH', path, { visibility: 'private' })
  const begun = async () => {
    const { job } = await say(starter.key, 'hello')
    const other = await signedIn(app, tenantId, 'editor')
    await app.owner`update person set name = 'Bob' where id = ${other.personId}`
    return {
      conversationId: job.conversationId as string,
      path: `conversations/${job.conversationId}`,
      other,
    }
  }

  test('not while a member has written in it who would not see it any more, unless they are added', async () => {
    const { conversationId, path, other } = await begun()
    await say(other.key, 'And I say', { conversationId })
    const refused = await closing(starter.key, path)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('Bob wrote in it and could no longer see it; first add everybody'),
    ])
    expect((await send(others.viewer!, 'GET', path)).status).toBe(200)
    await send(starter.key, 'PUT', `${path}/people/${other.personId}`)
    expect((await closing(starter.key, path)).status).toBe(200)
    expect([
      (await send(other.key, 'GET', path)).status,
      (await send(others.owner!, 'GET', path)).status,
    ]).toEqual([200, 404])
    // Renaming one that is private, or saying so again, asks for nothing.
    expect(
      (await send(starter.key, 'PATCH', path, { title: 'Ours', visibility: 'private' })).status,
    ).toBe(200)
  })

  test('not while a key of the workspace has written in it; those who have left do not count', async () => {
    const { conversationId, path, other } = await begun()
    await say(key, 'A program says', { conversationId })
    expect((await closing(starter.key, path)).body.error.message).toContain(
      'a key of the workspace wrote in it',
    )
    const second = await begun()
    await say(second.other.key, 'And I say', { conversationId: second.conversationId })
    await app.owner`delete from member where tenant_id = ${tenantId}
      and person_id = ${second.other.personId}`
    expect((await closing(starter.key, second.path)).status).toBe(200)
    expect(other.personId).not.toBe(second.other.personId)
  })

  test('at the moment at which another one writes: either it is refused, or the words are', async () => {
    for (let n = 0; n < 2; n++) {
      const { conversationId, path, other } = await begun()
      const [closed, said] = await Promise.all([
        closing(starter.key, path),
        send(other.key, 'POST', 'messages', { content: 'And I say', conversationId }),
      ])
      expect([
        [200, 404],
        [409, 201],
      ]).toContainEqual([closed.status, said.status])
    }
  })
})

/** Of a job and its children. */
const approvalsOf = (job: string) =>
  app.owner<{ id: string; job_id: string }[]>`select id, job_id from agent_approval
    where job_id = ${job} or job_id in (select id from agent_job where parent_id = ${job})`

test('the approvals of a private conversation stay with those who may decide: the call and why, without what was said', async () => {
  const waiting = await say(starter.key, `${SECRET} resume`, { visibility: 'private' })
  const { conversationId } = waiting.job
  const parent = await say(starter.key, `${SECRET} delegate`, { conversationId })
  const asked = await eventually(
    async () =>
      [...(await approvalsOf(waiting.job.id)), ...(await approvalsOf(parent.job.id))].map(
        ({ id }) => id,
      ),
    ({ length }) => length === 2,
  )
  for (const role of ['approver', 'owner'] as const) {
    const listed = (await send(others[role]!, 'GET', 'approvals?status=pending')).body.approvals
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(asked))
    for (const id of asked) {
      const { status, body, text } = await send(others[role]!, 'GET', `approvals/${id}`)
      expect(status).toBe(200)
      expect(body.approval).toMatchObject({
        tool_name: 'growth_resume_automation',
        arguments: {},
        why: expect.any(Array),
        status: 'pending',
        goal: '(said in a private conversation)',
        job: { goal: '(said in a private conversation)', taint: [] },
      })
      expect(text).not.toContain(SECRET)
    }
    const page = await fetch(`${app.url}/approvals/${asked[0]}`, {
      headers: { authorization: `Bearer ${others[role]}` },
    })
    expect(await page.text()).not.toContain(SECRET)
  }
  const approved = await send(others.approver!, 'POST', `approvals/${asked[0]}/approve`, {})
  expect([approved.status, approved.body.approval.status, approved.text.includes(SECRET)]).toEqual([
    200,
    'approved',
    false,
  ])
  await overJob(app, waiting.job.id)
})
