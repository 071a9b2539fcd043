/** What the workspace of the pictures lacks: a comment, a link, a webhook whose event failed. */
import { newId } from '#kernel/ids'
import type { Scene } from '../pictures/workspace.ts'

export const addMore = async ({ app, story, people, waits, receiver }: Scene): Promise<void> => {
  const { owner } = app
  const { key, personId } = people.ines
  const { tenantId } = story
  await story.send('POST', `items/${waits.draft}/comments`, { body: { body: 'Really?' }, key })
  await story.send('PUT', '/api/v1/app/webhook', { body: { url: receiver.url }, key })
  await owner`insert into outbox (id, tenant_id, type, data, created_at, state, attempts, last_error)
    values (${newId()}, ${tenantId}, 'item.posted', '{}', now(), 'dead', 3, 'Not this time')`
  await owner`insert into channel_identity (id, tenant_id, connection_id, external_id, name,
      person_id, verified_at, created_at, updated_at)
    select ${newId()}, ${tenantId}, id, 'ada', 'Ada', ${personId}, now(), now(), now()
      from channel_connection where tenant_id = ${tenantId}`
}
