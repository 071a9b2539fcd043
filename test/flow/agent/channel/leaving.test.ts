/** Senders of channels whose people leave: nothing of them comes back with the person. */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { channelAdmin } from '#test/support/channels/channels'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp({
  overrides: { thinker: scriptedModel(() => ({ text: 'Seen.' })) },
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
})

/** A channel, and two members with a linked sender and a code that is not used yet: `ada`, who leaves, and `bob`. */
const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { key: owner } = await channelAdmin(app, tenantId)
  const channel = await devChannel(app, {}, tenantId)
  const member = async (sender: string) => {
    const { email, personId, access: key } = await joinAs(app, { tenantId, role: 'editor' })
    await linked(app, channel, sender, personId)
    const { body } = await app.send('POST', `/api/v1/channels/${channel.id}/link-code`, { key })
    return { email, personId, key, code: body.code as string }
  }
  return { tenantId, owner, channel, ada: await member('ada'), bob: await member('bob') }
}
type Place = Awaited<ReturnType<typeof place>>

const say = async ({ channel }: Place, sender: string, text: string) => {
  expect((await postDev(app.url, channel, { sender, text })).status).toBe(200)
  return (await channelJobs(app, channel)).at(-1)!.on_behalf
}

/** In the order in which they joined. */
const left = async ({ tenantId }: Place) => [
  (await app.owner`select person_id from channel_identity where tenant_id = ${tenantId} order by 1`).map(({ person_id }) => person_id),
  (await app.owner`select person_id from channel_link_code where tenant_id = ${tenantId} order by 1`).map(({ person_id }) => person_id),
]

test.each([['leaves', 'ada'] as const, ['is removed', 'owner'] as const])(
  'the sender of a member who %s and joins again is a stranger, and its code is of no use',
  async (_, by) => {
    const here = await place()
    const { ada, bob, owner, tenantId, channel } = here
    expect(await say(here, 'ada', 'Hello')).toMatchObject({ personId: ada.personId })
    const { status } = await app.send('DELETE', `/api/v1/app/members/${ada.personId}`, { key: by === 'ada' ? ada.key : owner })
    expect(status).toBe(200)
    expect(await left(here)).toEqual([[bob.personId], [bob.personId]])
    expect((await joinAs(app, { tenantId, role: 'owner', email: ada.email })).personId).toBe(ada.personId)
    expect(await say(here, 'ada', 'Hello again')).toEqual({ kind: 'channel', id: channel.id, personId: null })
    expect(await say(here, 'ada', ada.code)).toMatchObject({ personId: null })
    expect(await say(here, 'bob', 'Hello')).toMatchObject({ personId: bob.personId })
  },
)

test('a person who is erased is erased from the channels of every workspace', async () => {
  const [here, there] = [await place(), await place()]
  const { ada } = here
  const again = await joinAs(app, { tenantId: there.tenantId, role: 'editor', email: ada.email })
  await linked(app, there.channel, newId(), again.personId)
  expect((await app.send('DELETE', '/api/v1/app/person', { key: ada.key, body: { current_password: PASSWORD } })).status).toBe(200)
  expect(await left(here)).toEqual([[here.bob.personId], [here.bob.personId]])
  expect(await left(there)).toEqual([
    [there.ada.personId, there.bob.personId],
    [there.ada.personId, there.bob.personId],
  ])
})

test('only the system unlinks a person', async () => {
  const { ada, tenantId } = await place()
  const call = app.workplace.db.read({ tenantId }, (sql) => sql`select unlink_person(${ada.personId}, ${[tenantId]})`)
  expect(await call.then(String, ({ code }) => code)).toBe('42501')
})
