/** What Meta says of messages of ours that did not arrive. */
import { expect, test } from 'bun:test'
import { useMeta } from '#test/support/channels/adapters'
import {
  business,
  change,
  postOf,
  status,
  undelivered,
  whatsAppPost,
} from '#test/support/channels/whatsapp-posts'

type Json = Record<string, unknown>

const { adapter, connection } = await useMeta()
const other = { ...business, phoneNumberId: '106540352242923' }
const ours = { biz_opaque_callback_data: 'r.0' }
const failuresIn = (body: object) => adapter.undelivered!(whatsAppPost(body), connection)

test('of statuses, those that say that a message of ours failed are read, with the reason in our words', () => {
  const statuses = [
    status('wamid.a', 'sent'),
    status('wamid.a', 'read'),
    undelivered({ id: 'wamid.b', ours: 'r.0' }),
  ]
  const unnamed = { ...undelivered({ id: 'wamid.d', ours: 'r.2' }), errors: [] }
  const told = failuresIn(
    postOf([
      change({ statuses }),
      change({ statuses: [undelivered({ id: 'wamid.c', ours: 'r.1' }, 131047), unnamed] }),
    ]),
  )
  expect(told).toEqual([
    {
      id: 'r.0',
      externalId: 'wamid.b',
      error: 'WhatsApp cannot deliver to this person (error 131026)',
    },
    {
      id: 'r.1',
      externalId: 'wamid.c',
      error:
        'the person wrote more than 24 hours ago: WhatsApp takes templates only (error 131047)',
    },
    { id: 'r.2', externalId: 'wamid.d', error: 'WhatsApp could not deliver it' },
  ])
})

test.each<[string, Json[]]>([
  ['messages of another program', [undelivered({ id: 'wamid.a' })]],
  [
    'what carries a line of ours that is none',
    [undelivered({ id: 'wamid.a', ours: 'x'.repeat(101) }), undelivered({ id: 'b', ours: 'a b' })],
  ],
  ['what has no id', [{ ...undelivered({ id: 'wamid.a', ours: 'r.0' }), id: undefined }]],
  [
    'every other status',
    ['sent', 'delivered', 'read', 'played', 'deleted', 'warning'].map((kind) => ({
      ...status('wamid.a', kind),
      ...ours,
    })),
  ],
])('nothing is read of %s', (_, statuses) => {
  expect(failuresIn(postOf([change({ statuses })]))).toEqual([])
  const others = change({ statuses: [undelivered({ id: 'wamid.a', ours: 'r.0' })] }, other)
  expect(failuresIn(postOf([others]))).toEqual([])
})
