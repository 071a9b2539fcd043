/** Conversations, their messages, and what people think of answers. */
import { describe, expect, test } from 'bun:test'
import {
  newConversation,
  requireActiveConversation,
  updateConversation,
  withMessage,
} from '#domain/agent/conversation'
import { giveFeedback } from '#domain/agent/job/feedback'
import { at } from '#test/domain/records'

const begun = newConversation('c', { title: null, person_id: 'p', now: at() })
const said = (content: string, role: 'user' | 'assistant' = 'user') =>
  withMessage(begun, { id: 'm', role, content, author: { kind: 'session', id: 's' } }, at(5))

describe('a conversation', () => {
  test('begins active, without messages, with a title that has no outer spaces', () => {
    expect(begun).toMatchObject({
      status: 'active',
      origin: 'app',
      title: null,
      next_seq: 1,
      last_at: at(),
    })
    expect(newConversation('c', { title: '  Late? ', person_id: null, now: at() }).title).toBe(
      'Late?',
    )
  })

  test('is named after the first message of a person, on one line and in at most 60 characters', () => {
    expect(said('  What\n is  late?\t').conversation.title).toBe('What is late?')
    const { title } = said(`${'🎉'.repeat(61)} end`).conversation
    expect([[...title!].length, title!.isWellFormed()]).toEqual([60, true])
    expect(said('Hello.', 'assistant').conversation.title).toBeNull()
    const named = updateConversation(begun, { title: 'Mine' }, at(1))
    expect(
      withMessage(
        named,
        { id: 'm', role: 'user', content: 'x', author: { kind: 'key', id: 'k' } },
        at(2),
      ).conversation.title,
    ).toBe('Mine')
  })

  test('numbers its messages', () => {
    const first = said('one')
    expect(first.message).toMatchObject({
      seq: 1,
      conversation_id: 'c',
      untrusted: false,
      tools_used: [],
      created_at: at(5),
    })
    const second = withMessage(
      first.conversation,
      { id: 'n', role: 'assistant', content: 'two', author: { kind: 'agent', id: 'j' } },
      at(6),
    )
    expect([second.message.seq, second.conversation.next_seq, second.conversation.last_at]).toEqual(
      [2, 3, at(6)],
    )
  })

  test('changes what is given alone, and takes no messages while archived', () => {
    const archived = updateConversation(begun, { status: 'archived' }, at(1))
    expect(archived).toEqual({ ...begun, status: 'archived', updated_at: at(1) })
    expect(() => requireActiveConversation(archived)).toThrow('the conversation is archived')
    expect(() =>
      requireActiveConversation(updateConversation(archived, { status: 'active' }, at(2))),
    ).not.toThrow()
  })
})

describe('feedback', () => {
  const { message } = said('🎉'.repeat(300), 'assistant')
  const given = {
    id: 'f',
    user_id: 'p',
    verdict: 'down',
    correction: 'Shorter',
    now: at(7),
  } as const
  const playbooks = [{ slug: 'launch-posts', version: 2 }]
  const first = { before: undefined, playbooks }

  test('keeps the beginning of the answer, and what it was made with', () => {
    const feedback = giveFeedback(
      { ...message, model: 'm', tools_used: ['growth_overview'] },
      first,
      given,
    )
    expect(feedback).toMatchObject({
      id: 'f',
      message_id: 'm',
      metadata: { model: 'm', tools: ['growth_overview'], playbooks },
      created_at: at(7),
    })
    expect([...feedback.message_excerpt].length).toBe(200)
  })

  test('given again replaces the verdict under the same id', () => {
    const before = giveFeedback(message, first, given)
    const second = giveFeedback(
      message,
      { before, playbooks },
      { ...given, id: 'g', verdict: 'up', correction: null, now: at(8) },
    )
    expect(second).toMatchObject({
      id: 'f',
      verdict: 'up',
      correction: null,
      created_at: at(7),
      updated_at: at(8),
    })
  })

  test('is refused for what a person said', () => {
    expect(() => giveFeedback(said('hi').message, first, given)).toThrow(
      'messageId must be the id of an answer of the agent',
    )
  })
})
