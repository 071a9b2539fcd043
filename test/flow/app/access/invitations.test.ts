/** Invitations: made, listed and revoked by owners, and accepted. */
import { expect, test } from 'bun:test'
import { acceptInvitation, inviteTo, joinAs, tokenIn } from '#test/support/people'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const PATH = '/api/v1/app/invitations'

/** Without the invitation that the operator made the workspace with. */
const newOwner = async (): Promise<SignedIn & { tenantId: string }> => {
  const { tenantId } = await app.newWorkspace()
  await app.owner`delete from invitation where tenant_id = ${tenantId}`
  return { tenantId, ...(await signedIn(app, tenantId)) }
}
const invite = ({ key }: SignedIn, body: Record<string, unknown> = { role: 'editor' }) =>
  app.send('POST', PATH, { key, body })
const list = async ({ key }: SignedIn, query = '') =>
  (await app.send('GET', `${PATH}${query}`, { key })).body
const revoke = ({ key }: SignedIn, id: string) => app.send('DELETE', `${PATH}/${id}`, { key })
let count = 0
const accept = (url: string, email = `joining${++count}@example.com`) =>
  acceptInvitation(app, { token: tokenIn(url), email })

test('creates a link that is shown once, points to the deployment, and is recorded without its token', async () => {
  const owner = await newOwner()
  const reply = await invite(owner)
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  const { invitation, url } = reply.body
  expect(url).toStartWith('http://localhost')
  expect(invitation).toMatchObject({
    role: 'editor',
    email: null,
    status: 'open',
    invited_by: owner.personId,
  })
  expect((await list(owner)).invitations).toEqual([invitation])
  const rows = await app.owner`select to_jsonb(a)::text as text from audit a
      where tenant_id = ${owner.tenantId}
    union all select to_jsonb(v)::text from invitation v where tenant_id = ${owner.tenantId}`
  expect(rows.length).toBeGreaterThan(1)
  for (const { text } of rows) expect(text).not.toContain(tokenIn(url))
})

test('admits the person who follows the link, in its role, and is then listed as accepted', async () => {
  const owner = await newOwner()
  const { invitation, url } = (await invite(owner, { role: 'approver' })).body
  const joined = await accept(url)
  expect(joined.body.session).toMatchObject({ role: 'approver', workspace: { id: owner.tenantId } })
  const [listed] = (await list(owner)).invitations
  expect(listed).toMatchObject({
    id: invitation.id,
    status: 'accepted',
    accepted_by: joined.body.session.person.id,
  })
  expect((await revoke(owner, invitation.id)).status).toBe(409)
  expect((await accept(url)).status).toBe(404)
})

test('for an email admits nobody under another email, and is not made for a member', async () => {
  const owner = await newOwner()
  const email = 'Invited@Example.com'
  const { url } = (await invite(owner, { role: 'viewer', email })).body
  expect((await accept(url, 'else@example.com')).body.session.person.email).toBe(email)
  const again = await invite(owner, { role: 'viewer', email: email.toLowerCase() })
  expect([again.status, again.body.error?.code]).toEqual([409, 'conflict'])
})

test('admits nobody once it is revoked, and revoking it again changes nothing', async () => {
  const owner = await newOwner()
  const { invitation, url } = (await invite(owner)).body
  const first = await revoke(owner, invitation.id)
  expect(first.body.invitation).toMatchObject({
    id: invitation.id,
    status: 'revoked',
    revoked_at: expect.any(String),
  })
  expect((await revoke(owner, invitation.id)).body).toEqual(first.body)
  expect((await accept(url)).status).toBe(404)
})

test('is either revoked or accepted when both are tried at once', async () => {
  const owner = await newOwner()
  const { invitation, url } = (await invite(owner)).body
  const [revoked, joined] = await Promise.all([revoke(owner, invitation.id), accept(url)])
  const { status } = (await list(owner)).invitations[0]
  expect([revoked.status === 200, joined.status === 201]).toEqual([
    status === 'revoked',
    status === 'accepted',
  ])
})

test('is listed as expired after its time', async () => {
  const owner = await newOwner()
  const { invitation } = (await invite(owner)).body
  await app.owner`update invitation set expires_at = now() where id = ${invitation.id}`
  expect((await list(owner)).invitations[0].status).toBe('expired')
})

test('can be open at most 200 at a time', async () => {
  const owner = await newOwner()
  await app.owner`insert into invitation (id, tenant_id, role, token_hash, expires_at)
    select gen_random_uuid(), ${owner.tenantId}, 'viewer',
      decode(md5(${owner.tenantId} || n), 'hex'), now() + interval '1 day'
    from generate_series(1, 200) n`
  const { invitations, next_cursor } = await list(owner, '?limit=100')
  expect([invitations.length, typeof next_cursor]).toEqual([100, 'string'])
  expect((await invite(owner)).status).toBe(409)
  await revoke(owner, invitations[0].id)
  expect((await invite(owner)).status).toBe(201)
})

test('admits one of several people who accept it at once', async () => {
  const token = await inviteTo(app)
  const replies = await Promise.all(
    ['one', 'two', 'three'].map((name) =>
      acceptInvitation(app, { token, email: `${name}@example.com` }),
    ),
  )
  const statuses = replies.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(1)
  // A request that arrives after the winner finds no open invitation.
  for (const status of statuses.filter((one) => one !== 201)) expect([404, 409]).toContain(status)
  const [row] = await app.owner`select count(*)::int as people from person
      where id not in (select person_id from member)`
  expect(row!.people).toBe(0)
})

test('needs the password of an existing account', async () => {
  const { email } = await joinAs(app)
  const { tenantId } = await app.newWorkspace()
  const token = await inviteTo(app, { tenantId })
  const joined = await acceptInvitation(app, { token, email: email.toUpperCase() })
  expect(joined.body.session.workspace.id).toBe(tenantId)
  const { body } = await app.send('GET', '/api/v1/app/session', {
    key: joined.body.session.access_token,
  })
  expect(body.session.workspaces).toHaveLength(2)
})
