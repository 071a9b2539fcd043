/**
 * Whatever people do with an item, and however close to its time: only a text goes out whose
 * approval stands.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventually } from '#test/support/app'
import { inMs, newStory, type Story } from '#test/support/growth/story'
import { runs } from '#test/support/property'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

/**
 * One item, with what the answers have said about its texts. Nobody else works on it, so the order
 * of the answers is that of the decisions.
 */
interface Known {
  story: Story
  id: string
  text: string
  hash: string
  edits: number
  /** Texts whose approval stands, or has stood until the item was posted. */
  approved: Set<string>
}

const created = async (story: Story, text: string): Promise<Known> => {
  const { item } = (await story.send('POST', 'items', { body: { body: text } })).body
  return { story, id: item.id, text, hash: item.content_hash, edits: 0, approved: new Set() }
}

type Step = (known: Known) => Promise<unknown>

const on = (method: string, path: string, { story, id }: Known, body?: object) =>
  story.send(method, `items/${id}${path}`, body === undefined ? {} : { body })

/** Its answer says that what was approved before is not any more. */
const withdrawing =
  (method: string, path: string): Step =>
  async (known) => {
    if ((await on(method, path, known)).status === 200) known.approved.delete(known.text)
  }

const approving =
  (more: () => object): Step =>
  async (known) => {
    const { status } = await on('POST', '/approve', known, { expect_hash: known.hash, ...more() })
    if (status === 200) known.approved.add(known.text)
  }

/** Soon enough that the next steps meet it on its way. */
const SOON_MS = [60, 90, 120]
const soon = (n: number): string => inMs(SOON_MS[n % SOON_MS.length]!)

const steps: Record<string, Step> = {
  approve: approving(() => ({})),
  'approve for soon': approving(() => ({ post_at: soon(0) })),
  'approve for a little later': approving(() => ({ post_at: soon(2) })),
  async edit(known) {
    const body = `${known.text.split(' (')[0]} (${++known.edits})`
    const { status, body: reply } = await on('PATCH', '', known, { body })
    if (status !== 200) return
    known.approved.delete(known.text)
    Object.assign(known, { text: body, hash: reply.item.content_hash })
  },
  reopen: withdrawing('POST', '/reopen'),
  reject: withdrawing('POST', '/reject'),
  delete: withdrawing('DELETE', ''),
  restore: (known) => on('POST', '/restore', known),
  schedule: (known) => on('POST', '/schedule', known, { post_at: soon(1) }),
  unschedule: (known) => on('POST', '/unschedule', known),
  'post now': (known) => on('POST', '/post-now', known),
  wait: () => Bun.sleep(30),
}

const settled = ({ story, id }: Known) =>
  eventually(
    async () => (await story.send('GET', `items/${id}`)).body.item,
    (item) =>
      item === undefined ||
      !(item.status === 'publishing' || (item.status === 'approved' && item.post_at !== null)),
  )

const usual = ['approve for soon', 'approve for a little later', 'edit', 'reopen', 'wait', 'wait']
const sequence = fc.array(fc.constantFrom(...usual, ...Object.keys(steps)), {
  minLength: 4,
  maxLength: 14,
})

test('no sequence of operations brings a text to the network that was not the one approved, or any text twice', async () => {
  const story = await newStory(app)
  let made = 0
  await fc.assert(
    fc.asyncProperty(fc.array(sequence, { minLength: 4, maxLength: 4 }), async (several) => {
      // Several at once: the account's posts wait for each other, so that some are claimed late.
      const items = await Promise.all(several.map(() => created(story, `Item ${++made}`)))
      await Promise.all(
        items.map(async (known, at) => {
          for (const name of several[at]!) await steps[name]!(known)
          await settled(known)
        }),
      )
      const posts = await story.posts()
      for (const known of items) {
        const own = Object.entries(posts).filter(
          ([text]) => text.split(' (')[0] === known.text.split(' (')[0],
        )
        const item = await settled(known)
        expect(own.map(([text, times]) => [known.approved.has(text), times])).toEqual(
          own.map(() => [true, 1]),
        )
        expect(own).toHaveLength(item?.status === 'posted' ? 1 : 0)
      }
    }),
    runs(12),
  )
})

test('a text that is changed after its approval, and not approved anew, does not go out', async () => {
  const story = await newStory(app)
  let made = 0
  // On a busy machine it may have gone out before it is changed.
  const known = await eventually(
    async () => {
      const one = await created(story, `A typo in tis text, ${++made}`)
      for (const name of ['approve for a little later', 'edit']) await steps[name]!(one)
      return one
    },
    ({ approved }) => approved.size === 0,
  )
  for (let waits = 0; waits < 6; waits++) await steps.wait!(known)
  expect((await settled(known)).status).toBe('drafted')
  const own = Object.keys(await story.posts()).filter(
    (text) => text.split(' (')[0] === known.text.split(' (')[0],
  )
  expect([known.edits, [...known.approved], own]).toEqual([1, [], []])
})
