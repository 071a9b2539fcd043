/** Members of a workspace: who they are, what they can do, and what remains when they leave. */
import { describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import { createOperations } from '#ops/index'
import type { Principal } from '#store/engine/principal'
import { testFailpoints } from '#test/support/actors/failpoints'
import { insertMember } from '#test/support/database/writes'
import { acceptInvitation, inviteTo } from '#test/support/people'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const points = testFailpoints()
const app = useApp({ overrides: { failpoints: points.at } })

const PATH = '/api/v1/app/members'

const people = async (...roles: Role[]): Promise<{ tenantId: string; all: SignedIn[] }> => {
  const { tenantId } = await app.newWorkspace()
  const all: SignedIn[] = []
  for (const role of roles) all.push(await signedIn(app, tenantId, role))
  return { tenantId, all }
}
const setRole = ({ key }: SignedIn, { personId }: SignedIn, role: Role) =>
  app.send('PUT', `${PATH}/${personId}`, { key, body: { role } })
const remove = ({ key }: SignedIn, { personId }: SignedIn) =>
  app.send('DELETE', `${PATH}/${personId}`, { key })
const rolesOf = async (tenantId: string) => {
  const rows = await app.owner`select person_id, role from member where tenant_id = ${tenantId}`
  return Object.fromEntries(rows.map((row) => [row.person_id, row.role]))
}
const read = (key: string) => app.send('GET', 'overview', { key })
const auditOf = (tenantId: string, operation: string) =>
  app.owner`select actor_kind, actor_id, ref_id, detail from audit where tenant_id = ${tenantId}
    and operation = ${operation}`

/** An API key of the person. */
const keyOf = async ({ personId }: SignedIn, tenantId: string) => {
  const { id, api_key } = await app.newKey(['api:read', 'api:write'], tenantId)
  await app.owner`update api_key set person_id = ${personId} where id = ${id}`
  return { id, api_key }
}

test('are listed to every member, page by page', async () => {
  const { all } = await people('owner', 'editor', 'viewer')
  const [owner, editor, viewer] = all as [SignedIn, SignedIn, SignedIn]
  const first = await app.send('GET', `${PATH}?limit=2`, { key: viewer.key })
  const rest = await app.send('GET', `${PATH}?cursor=${first.body.next_cursor}`, {
    key: viewer.key,
  })
  expect([...first.body.members, ...rest.body.members].map(({ id, role }) => [id, role])).toEqual([
    [viewer.personId, 'viewer'],
    [editor.personId, 'editor'],
    [owner.personId, 'owner'],
  ])
  expect(rest.body.members[0]).toEqual({
    id: owner.personId,
    email: owner.email,
    email_status: 'unverified',
    former_email: null,
    name: 'Test',
    role: 'owner',
    joined_at: expect.any(String),
  })
})

describe('a change of role', () => {
  test('is recorded in the audit trail, and applies from the next request', async () => {
    const { tenantId, all } = await people('owner', 'viewer')
    const [owner, viewer] = all as [SignedIn, SignedIn]
    const put = () => app.send('PUT', 'profile', { key: viewer.key, body: { goal: 'More' } })
    expect((await put()).status).toBe(403)
    expect((await setRole(owner, viewer, 'editor')).body.member).toMatchObject({
      id: viewer.personId,
      role: 'editor',
    })
    expect((await put()).status).toBe(200)
    const [row] = await auditOf(tenantId, 'app.members.update')
    expect(row).toMatchObject({
      actor_kind: 'person',
      actor_id: owner.personId,
      ref_id: viewer.personId,
    })
    expect(row!.detail).toEqual({ email: viewer.email, before: 'viewer', role: 'editor' })
  })

  test('revokes the invitations of a person who is no longer an owner', async () => {
    const { tenantId, all } = await people('owner', 'owner')
    const [first, second] = all as [SignedIn, SignedIn]
    const token = await inviteTo(app, { tenantId })
    await app.owner`update invitation set invited_by = ${second.personId}
      where tenant_id = ${tenantId}`
    expect((await setRole(first, second, 'viewer')).status).toBe(200)
    expect((await acceptInvitation(app, { token, email: `again-${second.email}` })).status).toBe(
      404,
    )
  })
})

describe('the last owner', () => {
  test('cannot be demoted or removed, and cannot leave', async () => {
    const { tenantId, all } = await people('owner', 'editor')
    const [owner] = all as [SignedIn]
    for (const reply of [await setRole(owner, owner, 'viewer'), await remove(owner, owner)])
      expect([reply.status, reply.body.error?.code]).toEqual([409, 'conflict'])
    expect((await rolesOf(tenantId))[owner.personId]).toBe('owner')
  })

  test('remains when two owners demote or remove each other at the same time', async () => {
    for (const act of [(a: SignedIn, b: SignedIn) => setRole(a, b, 'viewer'), remove]) {
      const { tenantId, all } = await people('owner', 'owner')
      const [one, other] = all as [SignedIn, SignedIn]
      const replies = await Promise.all([act(one, other), act(other, one)])
      // By then the second is no longer an owner: refused at the gate, or already on arrival.
      const [first, second] = replies.map(({ status }) => status).sort() as [number, number]
      expect([first, [401, 403].includes(second)]).toEqual([200, true])
      expect(
        Object.values(await rolesOf(tenantId)).filter((role) => role === 'owner'),
      ).toHaveLength(1)
    }
  })
})

describe('a removed member', () => {
  test('is refused from then on, by session and by key, and joining again revives neither', async () => {
    const { tenantId, all } = await people('owner', 'editor')
    const [owner, editor] = all as [SignedIn, SignedIn]
    const { api_key: key } = await keyOf(editor, tenantId)
    for (const credential of [editor.key, key]) expect((await read(credential)).status).toBe(200)
    expect((await remove(owner, editor)).body.member).toMatchObject({
      id: editor.personId,
      role: 'editor',
    })
    for (const credential of [editor.key, key]) expect((await read(credential)).status).toBe(401)
    await insertMember(app, tenantId, { personId: editor.personId, role: 'owner' })
    for (const credential of [editor.key, key]) expect((await read(credential)).status).toBe(401)
    expect((await auditOf(tenantId, 'app.members.remove'))[0]!.detail).toEqual({
      email: editor.email,
      role: 'editor',
    })
  })

  test('keeps their other workspaces', async () => {
    const { all } = await people('owner', 'editor')
    const [owner, editor] = all as [SignedIn, SignedIn]
    const { tenantId: elsewhere } = await app.newWorkspace()
    await insertMember(app, elsewhere, { personId: editor.personId, role: 'editor' })
    const { api_key: key } = await keyOf(editor, elsewhere)
    expect((await remove(owner, editor)).status).toBe(200)
    expect((await read(key)).status).toBe(200)
  })

  test('can remove themselves, and nobody else', async () => {
    const { all } = await people('owner', 'viewer', 'editor')
    const [owner, viewer, editor] = all as [SignedIn, SignedIn, SignedIn]
    expect((await remove(viewer, editor)).status).toBe(403)
    expect((await remove(viewer, viewer)).status).toBe(200)
    expect((await read(viewer.key)).status).toBe(401)
    expect((await app.send('GET', PATH, { key: owner.key })).body.members).toHaveLength(2)
  })

  const ends: [string, (a: SignedIn, b: SignedIn) => ReturnType<typeof setRole>, string][] = [
    ['removal', remove, 'letter.deciding:app.members.remove'],
    ['demotion', (a, b) => setRole(a, b, 'viewer'), 'letter.deciding:app.members.update'],
  ]
  test.each(ends)(
    'and commands that wait in the mailbox behind the %s are refused',
    async (_, act, point) => {
      const { tenantId, all } = await people('owner', 'editor')
      const [owner, editor] = all as [SignedIn, SignedIn]
      const { id } = await keyOf(editor, tenantId)
      const put = workspaceOperations(createOperations(app.workplace.world)).find(
        (one) => one.id === 'growth.profile.update',
      )!
      const member = { personId: editor.personId, role: 'editor' } as const
      // Authenticated before the removal, so only the gate can refuse them.
      const callers: Principal[] = [
        { kind: 'session', id: editor.sessionId, member },
        { kind: 'key', id, member },
      ]
      const call = {
        tenantId,
        scopes: new Set(scopes),
        surface: 'rest',
        requestId: 'test',
      } as const
      points.arm(point, 'hang')
      const acting = act(owner, editor)
      await points.reached(point)
      const waiting = callers.map((principal) =>
        put
          .run(() => ({ goal: 'Late' }), { ...call, principal })
          .then(
            () => 'ran',
            (cause) => cause.code,
          ),
      )
      points.release(point)
      expect((await acting).status).toBe(200)
      expect(await Promise.all(waiting)).toEqual(['unauthenticated', 'unauthenticated'])
    },
  )
})
