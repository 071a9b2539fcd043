import { expect, test } from 'bun:test'
import { eventually, testApp } from '#test/support/app'

const profile = {
  goal: 'Book demos with operations leads',
  audience: 'operations leads at logistics firms',
  writing_dna: {
    stories: [
      'I drove a delivery van for a week. Eleven of fourteen delays started at the loading dock.',
    ],
    proof: ['Cut late deliveries by 31% at Nordfracht', '412 depots use our dock scheduler'],
  },
}

test('a draft gets from the profile to the network, and is posted once', async () => {
  await using app = await testApp()
  await app.send('PUT', 'profile', { body: profile })
  const created = await app.send('POST', 'batches', {
    body: { count: 3, focus: 'late deliveries' },
  })
  expect(created.status).toBe(201)
  const { id } = created.body.batch
  const settled = await eventually(
    () => app.send('GET', `batches/${id}`),
    ({ body }) => ['ready', 'failed'].includes(body.batch.status),
  )
  expect(settled.body.batch).toMatchObject({
    status: 'ready',
    error: null,
    model: 'composer',
    requested: 3,
  })
  const [first, second] = settled.body.batch.items
  const approved = await app.send('POST', `items/${first.id}/approve`, {
    body: { edited_body: 'Every delay starts at the dock.' },
  })
  expect(approved.body.item).toMatchObject({
    status: 'approved',
    body: 'Every delay starts at the dock.',
  })
  expect(
    (await app.send('POST', `items/${second.id}/reject`, { body: { reason: 'too dry' } })).body.item
      .status,
  ).toBe('rejected')
  const posted = await app.send('POST', `items/${first.id}/post-now`)
  expect(posted.status).toBe(200)
  expect(posted.body.item.status).toBe('posted')
  const network = await app.owner`select text from sandbox.posts`
  expect(network.map((row) => row.text)).toEqual(['Every delay starts at the dock.'])
  const events = await app.owner`select type from outbox order by id`
  expect(events.map((row) => row.type)).toEqual([
    'growth.batch.settled',
    'growth.approval.requested',
    'growth.item.posted',
  ])
})
