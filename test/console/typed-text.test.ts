/** Text that is not saved yet, in the browser of a person. */
import { beforeEach, expect, test } from 'bun:test'
import {
  dropAllTyped,
  dropTyped,
  keepTyped,
  tidyTyped,
  typedOverOthers,
  typedText,
  unsavedCount,
} from '#src/console/typed/typed-text'

/** Its entries are its own properties, as those of a browser's storage are. */
const createStorage = (): Storage => {
  const entries: Record<string, string> = Object.create({
    getItem: (name: string) => entries[name] ?? null,
    setItem: (name: string, value: string) => {
      entries[name] = value
    },
    removeItem: (name: string) => void delete entries[name],
  })
  return entries as unknown as Storage
}

const about = { person: 'p1', workspace: 'w1', record: 'draft:1', revision: 3 }
const DAY = 86_400_000
let storage: Storage

beforeEach(() => {
  storage = createStorage()
})

test('it is found by person, workspace, record and revision, and gone once it is saved', () => {
  keepTyped(storage, about, { text: 'new', at: 5 })
  expect(typedText(storage, about)).toEqual({ text: 'new', at: 5 })
  for (const other of [
    { person: 'p2' },
    { workspace: 'w2' },
    { record: 'draft:2' },
    { revision: 4 },
  ])
    expect(typedText(storage, { ...about, ...other })).toBeUndefined()
  dropTyped(storage, about)
  expect(typedText(storage, about)).toBeUndefined()
})

test('what was typed over another revision is offered, newest first', () => {
  for (const [revision, at] of [
    [1, 10],
    [2, 20],
    [13, 5],
  ] as const)
    keepTyped(storage, { ...about, revision }, { text: `r${revision}`, at })
  expect(typedOverOthers(storage, about).map(({ revision }) => revision)).toEqual([2, 1, 13])
})

test('the next person finds nothing, nor does anybody after a week or beyond 200 texts', () => {
  keepTyped(storage, { ...about, person: 'p2' }, { text: 'theirs', at: 8 * DAY })
  keepTyped(storage, about, { text: 'old', at: DAY - 1 })
  for (let index = 0; index < 205; index++)
    keepTyped(storage, { ...about, record: `draft:n${index}` }, { text: 'x', at: 2 * DAY + index })
  storage.setItem('tendril.typed:p1:w1:broken:1', '{')
  storage.setItem('tendril.theme', 'dark')
  tidyTyped(storage, 'p1', 8 * DAY)
  expect([unsavedCount(storage, 'p1'), unsavedCount(storage, 'p2')]).toEqual([200, 0])
  expect(typedText(storage, { ...about, record: 'draft:n204' })?.text).toBe('x')
  dropAllTyped(storage)
  expect(Object.keys(storage)).toEqual(['tendril.theme'])
})

test('a storage that is full keeps nothing, and says so', () => {
  const full = Object.create(storage, {
    setItem: {
      value: () => {
        throw new Error('full')
      },
    },
  })
  expect(keepTyped(full, about, { text: 'x', at: 1 })).toBe(false)
})
