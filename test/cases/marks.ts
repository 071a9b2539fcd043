/** What a network that marks texts must take: a post with a mention, a card and a language. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { keyFor, type NetworkCase, never } from './network.ts'

export const marksCases = (name: string, open: () => Promise<NetworkCase>): void => {
  describe(`${name}: what stands beside a text`, () => {
    test('a handle is found, and the post with it, a card and a language is taken', async () => {
      await using it = await open()
      const { network, account, other } = it
      const text = `Thanks @${other.handle}, and @nobody-at-all.example.com. Read https://example.com/a`
      const mayAsk = (url: string) => !url.includes('example.com')
      const made = await network.marks!.make({ account, text, mayAsk }, never())
      const mentions = [{ handle: other.handle, id: other.externalId }]
      expect(made).toEqual({ marks: { mentions, card: null }, isWhole: true })
      const card = { url: 'https://example.com/a', title: 'Late & sorry', description: '' }
      const result = await network.publish(
        {
          account,
          text,
          marks: { mentions, card, language: 'pt-BR' },
          attemptId: newId(),
          key: keyFor(network),
          madeAt: new Date(),
          deadlineMs: 10_000,
        },
        never(),
      )
      expect(result).toMatchObject({ kind: 'posted' })
    })
  })
}
