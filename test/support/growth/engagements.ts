/** Engagements of a story, over HTTP. */
import type { Send, TestApp } from '#test/support/app'
import { othersPost } from '#test/support/growth/records'
import type { Story } from '#test/support/growth/story'

export const engage = (story: Story, body: object) => story.send('POST', 'engagements', { body })

export const act = (story: Story, id: string, verb: string, options: Send = {}) =>
  story.send('POST', `engagements/${id}/${verb}`, options)

export const engagementOf = async (story: Story, id: string) =>
  (await story.send('GET', `engagements/${id}`)).body.engagement

interface Wish {
  action?: string
  body?: string
  post?: string
}

/** A draft that a person has written, by default of a reply to another account's post. */
export const draftedEngagement = async (
  app: TestApp,
  story: Story,
  { action = 'reply', body = 'We call first.', post }: Wish = {},
) => {
  const of = post ?? (await othersPost({ app }))
  const words = action === 'reply' || action === 'quote' ? { body } : {}
  const made = await engage(story, { post: of, action, ...words })
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  return { id: made.body.engagement.id as string, post: of }
}

export const approvedEngagement = async (app: TestApp, story: Story, wish: Wish = {}) => {
  const made = await draftedEngagement(app, story, wish)
  const { status, text } = await act(story, made.id, 'approve')
  if (status !== 200) throw new Error(`${status} ${text}`)
  return made
}

/** The texts that are on the network in answer to a post. */
export const answersTo = async ({ owner }: Pick<TestApp, 'owner'>, post: string) =>
  (
    await owner<{ text: string }[]>`select text from sandbox.posts
      where in_reply_to = ${post} or quoted = ${post}`
  ).map(({ text }) => text)

/** The kinds of reactions to a post. */
export const reactionsTo = async ({ owner }: Pick<TestApp, 'owner'>, post: string) =>
  (await owner<{ kind: string }[]>`select kind from sandbox.reactions where post_id = ${post}`).map(
    ({ kind }) => kind,
  )
