import { expect, test } from 'bun:test'
import { folderInMemory } from './memory.ts'

test.each(['/nonexistent', '/proc', '/etc/passwd'])(
  'temporary files do not go to %s, which has no room for them',
  (path) => {
    expect(folderInMemory(path)).toBeUndefined()
  },
)
