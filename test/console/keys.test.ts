/** The one list of shortcuts. */
import { expect, test } from 'bun:test'
import { ariaKeys, chordOf, clashesIn, keysShown, shortcuts } from '#src/console/keys/keys'

test('no key means two things at one place', () => {
  expect(clashesIn(shortcuts)).toEqual([])
})

test('a key that begins another, or means another thing around it, clashes', () => {
  const one = { says: '', scope: 'inbox' } as const
  expect(
    clashesIn({
      a: { ...one, chord: 'G' },
      b: { says: '', scope: 'everywhere', chord: 'G I' },
      c: { says: '', scope: 'call', chord: 'G' },
      d: { says: '', scope: 'call', chord: 'Shift+G' },
      e: { says: '', scope: 'reply', chord: 'Shift+G' },
    }),
  ).toEqual(['a and b are both G', 'a and c are both G', 'b and c are both G I'])
})

const pressed = { shift: false, mod: false, alt: false }

test.each([
  [{ key: 'z' }, 'Z'],
  [{ key: 'P', shift: true }, 'Shift+P'],
  [{ key: '?', shift: true }, '?'],
  [{ key: 'k', mod: true }, 'Mod+K'],
  [{ key: ' ' }, 'Space'],
  [{ key: 'Enter', mod: true }, 'Mod+Enter'],
  [{ key: 'Shift', shift: true }, undefined],
  [{ key: 'z', alt: true }, undefined],
])('%j is the chord %p', (one, chord) => {
  expect(chordOf({ ...pressed, ...one })).toBe(chord!)
})

test('keys are named as people and screen readers know them', () => {
  expect(keysShown('Mod+Enter', true)).toEqual(['⌘', '↵'])
  expect(keysShown('G I', false)).toEqual(['G', 'I'])
  expect([ariaKeys('palette'), ariaKeys('pause'), ariaKeys('goInbox')]).toEqual([
    'Control+K Meta+K',
    'Shift+P',
    undefined,
  ])
})
