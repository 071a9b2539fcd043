/** The end of the system message: which playbooks find room. */
import { expect, test } from 'bun:test'
import { MOST_PLAYBOOK_CHARACTERS, playbooksMessage } from '#domain/agent/job/prompt'

const playbook = (slug: string, length: number) => ({
  slug,
  name: slug.toUpperCase(),
  content: slug[0]!.repeat(length),
  version: length,
})

test('says nothing of playbooks where none is pinned', () => {
  expect(playbooksMessage([])).toEqual({ text: '', given: [] })
})

test('has pinned playbooks in their order', () => {
  expect(playbooksMessage([playbook('new', 3), playbook('old', 4)]).text).toEndWith(
    'NEW (new):\nnnn\n\nOLD (old):\noooo',
  )
})

test('names what finds no room, and gives what comes after it the room that is left', () => {
  const pinned = [
    playbook('first', MOST_PLAYBOOK_CHARACTERS - 10),
    playbook('long', 11),
    playbook('short', 10),
  ]
  const { text, given } = playbooksMessage(pinned)
  expect(text).toContain('FIRST (first):')
  expect(text).toContain(`SHORT (short):\n${'s'.repeat(10)}`)
  expect(text).not.toContain('LONG (long):')
  expect(text).toEndWith('read them by read_playbook: long')
  expect(given.map(({ slug }) => slug)).toEqual(['first', 'short'])
})
