/** What people can do with their own account. */
import { describe, expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { eventually } from '#test/support/app'
import { waitForLockWaiter } from '#test/support/database/locks'
import { insertKeys, insertMember } from '#test/support/database/writes'
import { joinAs, PASSWORD, signIn } from '#test/support/people'
import { newPerson } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const PATH = '/api/v1/app/person'

/** An advisory lock. */
const GATE = 7

/** A person who joined by an invitation, signed in. */
const join = async (tenantId: string, role: Role = 'owner') => {
  const { email, personId: id, access: key } = await joinAs(app, { tenantId, role })
  return { email, id, key }
}

const change = (key: string, body: unknown) => app.send('PUT', PATH, { key, body })
const deleteAccount = (key: string, current_password = PASSWORD) =>
  app.send('DELETE', PATH, { key, body: { current_password } })

describe('an account', () => {
  test('shows its details, and changes its name without a password', async () => {
    const { tenantId } = await app.newWorkspace()
    const { id, email, key } = await join(tenantId, 'viewer')
    expect((await app.send('GET', PATH, { key })).body.person).toEqual({
      id,
      email,
      email_status: 'unverified',
      former_email: null,
      name: 'Ann',
      created_at: expect.any(String),
    })
    expect((await change(key, { name: 'Bea' })).body.person).toMatchObject({ email, name: 'Bea' })
    expect((await change(key, {})).body.person).toMatchObject({ email, name: 'Bea' })
    expect((await app.send('GET', '/api/v1/app/session', { key })).body.session.person.name).toBe(
      'Bea',
    )
  })

  test('changes its email with the password, to one that no fellow member has', async () => {
    const { tenantId } = await app.newWorkspace()
    const [{ id, email, key }, other] = [await join(tenantId), await join(tenantId)]
    const next = `new-${email}`
    const without = await change(key, { email: next })
    expect([without.status, without.body.error.details?.[0].path]).toEqual([
      400,
      'current_password',
    ])
    expect((await change(key, { email: next, current_password: 'not the password' })).status).toBe(
      401,
    )
    const taken = await change(key, {
      email: other.email.toUpperCase(),
      current_password: PASSWORD,
    })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'conflict'])
    expect((await change(key, { email: next, current_password: PASSWORD })).body.person.email).toBe(
      next,
    )
    expect([(await signIn(app, email)).status, (await signIn(app, next)).status]).toEqual([
      401, 201,
    ])
    const audited =
      await app.owner`select actor_id, surface from audit where tenant_id = ${tenantId}
        and operation = 'app.person.update'`
    expect(audited.map((row) => ({ ...row }))).toEqual([{ actor_id: id, surface: 'rest' }])
  })
})

describe('deleting an account', () => {
  test('needs the password, and is refused to the last owner of a workspace', async () => {
    const { tenantId } = await app.newWorkspace()
    const { id, key } = await join(tenantId)
    await newPerson(app.owner, tenantId, 'editor')
    expect((await deleteAccount(key, 'not the password')).status).toBe(401)
    const refused = await deleteAccount(key)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('last owner of Test'),
    ])
    expect((await app.send('GET', PATH, { key })).body.person.id).toBe(id)
  })

  test("ends the person's sessions, memberships, invitations and keys everywhere, and is recorded in each workspace", async () => {
    const [one, other] = [await app.newWorkspace(), await app.newWorkspace()]
    const { id, email, key } = await join(one.tenantId)
    await join(one.tenantId)
    await insertMember(app, other.tenantId, { personId: id, role: 'viewer' })
    await app.owner`insert into invitation (id, tenant_id, role, token_hash, invited_by, expires_at)
      values (gen_random_uuid(), ${one.tenantId}, 'owner', ${Buffer.from(id)}, ${id},
        now() + interval '1 day')`
    const [keyId] = await insertKeys(app, one.tenantId, 1, { person_id: id })
    const reply = await deleteAccount(key)
    expect([reply.status, reply.body]).toEqual([200, { deleted: id }])
    expect(reply.headers.getSetCookie().length).toBeGreaterThan(0)
    expect([
      (await app.send('GET', PATH, { key })).status,
      (await signIn(app, email)).status,
    ]).toEqual([401, 401])
    const [left] =
      await app.owner`select (select count(*)::int from person where id = ${id}) as people,
      (select count(*)::int from member where person_id = ${id}) as memberships,
      (select count(*)::int from invitation where token_hash = ${Buffer.from(id)}
        and revoked_at is null) as invitations,
      (select count(*)::int from api_key where id = ${keyId!} and revoked_at is null) as keys`
    expect({ ...left }).toEqual({ people: 0, memberships: 0, invitations: 0, keys: 0 })
    for (const { tenantId } of [one, other]) {
      const [audited] =
        await app.owner`select actor_id, ref_id from audit where tenant_id = ${tenantId}
          and operation = 'app.person.delete'`
      expect({ ...audited }).toEqual({ actor_id: id, ref_id: id })
    }
  })

  test('of two owners who leave at the same time, one stays', async () => {
    for (let round = 0; round < 2; round++) {
      const { tenantId } = await app.newWorkspace()
      const [one, other] = [await join(tenantId), await join(tenantId)]
      const leaving =
        round % 2
          ? [deleteAccount(one.key), deleteAccount(other.key)]
          : [deleteAccount(one.key), app.send('DELETE', `/api/v1/app/members/${other.id}`, other)]
      const statuses = (await Promise.all(leaving)).map(({ status }) => status)
      expect(statuses.sort()).toEqual([200, 409])
      const [row] =
        await app.owner`select count(*)::int as owners from member where tenant_id = ${tenantId}
          and role = 'owner'`
      expect(row!.owners).toBe(1)
    }
  })

  test('refuses a command of the person that waits for it', async () => {
    const { tenantId } = await app.newWorkspace()
    const { id, key } = await join(tenantId)
    await join(tenantId)
    // The deletion holds its locks, after it has taken the one that the command waits for, until
    // the gate is open.
    const gate = await app.owner.reserve()
    await gate`select pg_advisory_lock(${GATE})`
    await app.owner`create function slowly() returns trigger language plpgsql as 'begin
      while not pg_try_advisory_xact_lock(${app.owner.unsafe(String(GATE))}) loop
        perform pg_sleep(0.01);
      end loop;
      return old; end'`
    await app.owner`create trigger slowly before delete on member for each row
      when (old.person_id = ${app.owner.unsafe(`'${id}'`)}) execute function slowly()`
    const deletion = deleteAccount(key)
    await eventually(
      () =>
        app.owner`select from pg_stat_activity where wait_event = 'PgSleep'
          and datname = current_database()`,
      (rows) => rows.length > 0,
    )
    const made = app.send('POST', '/api/v1/app/keys', {
      key,
      body: { name: 'left behind', scopes: ['api:read'], belongs_to: 'workspace' },
    })
    await waitForLockWaiter(app.owner)
    await gate`select pg_advisory_unlock(${GATE})`
    gate.release()
    expect([(await deletion).status, (await made).status]).toEqual([200, 401])
    expect(
      await app.owner`select 1 from api_key where tenant_id = ${tenantId} and name = 'left behind'`,
    ).toHaveLength(0)
  })
})
