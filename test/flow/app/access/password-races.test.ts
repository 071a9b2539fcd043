/** What a password allows while it is being replaced, and how many guesses at it there are. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { resetByOperator } from '#ops/operator/admin/recovery'
import type { Reply } from '#test/support/app'
import { eventually } from '#test/support/eventually'
import {
  acceptInvitation,
  askForCode,
  decide,
  forgetAttempts,
  inviteTo,
  joinAs,
  PASSWORD,
  signIn,
  tokenIn,
} from '#test/support/people'
import { useApp } from '#test/support/use'

/**
 * A request that has compared a password, or found a device, stops here: it gives back its attempt
 * only afterwards. It may stop for as long as a statement may take: hashing a password meanwhile
 * takes seconds on a busy machine.
 */
const GATE = 7_800
const ofReset = createHash('sha256').update('reset address 127.0.0.1').digest('base64')
const app = useApp()
beforeAll(async () => {
  await app.owner.unsafe(`
    create function stop() returns trigger language plpgsql as $$ begin
      if old.key <> '${ofReset}' then
        perform set_config('lock_timeout', '0', true);
        perform pg_advisory_xact_lock_shared(${GATE});
      end if;
      return coalesce(new, old);
    end $$;
    create trigger stop_forgetting before delete on throttle for each row execute function stop();
    create trigger stop_returning before update on throttle for each row when (new.used < old.used) execute function stop()`)
})
beforeEach(() => forgetAttempts(app))

const NEXT = 'quite another password'
const ATTACKERS = 'the password of an attacker'
const me = (key: string) => app.send('GET', '/api/v1/app/person', { key })
const hashOf = async (personId: string): Promise<string> =>
  (await app.owner`select password_hash as hash from person where id = ${personId}`)[0]!.hash

/**
 * Sends a request that the old password authorises, and sets another password by an operator's link
 * before it continues.
 */
const resetWithin = async (
  { email, personId }: { email: string; personId: string },
  send: () => Promise<Reply>,
): Promise<Reply> => {
  const { url } = await resetByOperator({ db: app.workplace.db, publicUrl: app.url }, { email })
  const before = await hashOf(personId)
  const connection = await app.owner.reserve()
  try {
    await connection`select pg_advisory_lock(${GATE})`
    const late = send()
    const stopped = await eventually(
      async () =>
        (
          await connection`select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE}
            and not granted
            and database = (select oid from pg_database where datname = current_database())`
        ).length,
      (count) => count > 0,
    )
    expect(stopped).toBe(1)
    const reset = app.send('POST', '/api/v1/app/person/reset', {
      key: null,
      body: { token: tokenIn(url), new_password: NEXT },
    })
    expect(
      await eventually(
        () => hashOf(personId),
        (hash) => hash !== before,
      ),
    ).not.toBe(before)
    await connection`select pg_advisory_unlock(${GATE})`
    expect((await reset).status).toBe(200)
    return await late
  } finally {
    await connection`select pg_advisory_unlock_all()`
    connection.release()
  }
}

describe('while a reset link is used', () => {
  test('the old password starts no session', async () => {
    const person = await joinAs(app)
    const late = await resetWithin(person, () => signIn(app, person.email, PASSWORD))
    expect([late.status, late.body.error?.message]).toEqual([
      401,
      'the email or the password is wrong',
    ])
    const living = await app.owner`select 1 from session where person_id = ${person.personId}
        and revoked_at is null`
    expect(living.length).toBe(0)
  })

  test('the old password does not set a third one', async () => {
    const person = await joinAs(app)
    const late = await resetWithin(person, () =>
      app.send('POST', '/api/v1/app/session/password', {
        key: person.access,
        body: { current_password: PASSWORD, new_password: ATTACKERS },
      }),
    )
    expect([
      late.status,
      (await signIn(app, person.email, ATTACKERS)).status,
      (await signIn(app, person.email, NEXT)).status,
    ]).toEqual([401, 401, 201])
  })

  test('the old password does not move the account to another address', async () => {
    const person = await joinAs(app)
    const body = { email: 'attacker@example.com', current_password: PASSWORD }
    const late = await resetWithin(person, () =>
      app.send('PUT', '/api/v1/app/person', { key: person.access, body }),
    )
    expect([late.status, (await signIn(app, person.email, NEXT)).status]).toEqual([401, 201])
  })

  test('a session that the reset ends approves no device', async () => {
    const person = await joinAs(app)
    const { user_code, device_code } = await askForCode(app)
    const late = await resetWithin(person, () => decide(app, person.access, user_code))
    const [grant] = await app.owner`select decision from device_grant
        where device_code_hash = sha256(${device_code}::bytea)`
    expect([late.status, grant?.decision ?? null]).toEqual([404, null])
    expect((await me(person.access)).status).toBe(401)
  })
})

describe('guesses at the password of an address on which an account squats', () => {
  const squat = async (email: string) => {
    const { tenantId } = await app.newWorkspace()
    const token = await inviteTo(app, { tenantId })
    expect((await acceptInvitation(app, { token, email, password: ATTACKERS })).status).toBe(201)
    return tenantId
  }
  const guesses = async (email: string, between: () => Promise<unknown>) => {
    const statuses: number[] = []
    for (let tries = 0; tries < 12; tries++) {
      statuses.push((await signIn(app, email, `guess ${tries}`)).status)
      if (tries % 5 === 4) await between()
    }
    return statuses
  }
  const TEN = [...new Array<number>(10).fill(401), 429, 429]

  test("are no more for signing in with the squatter's own password in between", async () => {
    const { email } = await joinAs(app)
    const tenantId = await squat(email)
    expect(
      await guesses(email, () => signIn(app, email, ATTACKERS, { workspace_id: tenantId })),
    ).toEqual(TEN)
  })

  test('are forgotten when the person with the proven address signs in', async () => {
    const email = 'proven.owner@example.com'
    expect(
      (await acceptInvitation(app, { token: await inviteTo(app, { role: 'editor', email }) }))
        .status,
    ).toBe(201)
    await squat(email)
    expect(await guesses(email, () => signIn(app, email, PASSWORD))).not.toContain(429)
  })
})
