import { afterAll, describe, expect, test } from 'bun:test'
import { use, useEach } from './use.ts'

const log: string[] = []

class Resource {
  readonly #name: string
  note = ''
  constructor(name: string) {
    this.#name = name
    log.push(`open ${name}`)
  }
  name(): string {
    return this.#name
  }
  async [Symbol.asyncDispose]() {
    log.push(`close ${this.#name}`)
  }
}

describe('what is in use', () => {
  const first = use(() => new Resource('first'))
  const second = use(async () => new Resource(`second, of ${first.name()}`))
  const early = (() => {
    try {
      return first.name()
    } catch (cause) {
      return (cause as Error).message
    }
  })()
  afterAll(() => {
    expect(log).toEqual([
      ...[
        'open first',
        'open second, of first',
        'open own 1',
        'close own 1',
        'open own 2',
        'close own 2',
      ],
      ...['close second, of first', 'close first'],
    ])
  })

  test('cannot be read while tests are declared', () => {
    expect(early).toBe('used outside of a test: it is opened by a hook')
  })

  test('is the opened thing itself, private fields and all', () => {
    expect([first.name(), second.name()]).toEqual(['first', 'second, of first'])
    first.note = 'kept'
    expect([first.note, 'note' in first, 'other' in first]).toEqual(['kept', true, false])
  })

  describe('in each test', () => {
    let count = 0
    const own = useEach(() => new Resource(`own ${++count}`))
    test('is one', () => expect(own.name()).toMatch(/own [12]/))
    test('is another', () => expect(own.name()).toMatch(/own [12]/))
  })
})
