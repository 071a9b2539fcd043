/** Direct calls of a tool that tests make of any class. */
import { expect } from 'bun:test'
import type { Tool } from '#decisions/agent/toolbox'
import { fail } from '#kernel/errors'
import type { AppOptions, Reply, TestApp } from '../app.ts'
import { brokenInvariants } from './invariants.ts'
import { changed } from './outside-tool.ts'
import { newSurface, type Surface } from './surface.ts'

/** The clock as a tool of any class, so that the rules are tried on a tool that changes nothing. */
export const clock = {
  ...({ class: 'read', way: 'read' } as Pick<Tool, 'class' | 'way'>),
  calls: 0,
  refuses: undefined as string | undefined,
  answers: Promise.resolve(),
}
export const NAME = 'get_current_time'

export const options = (replyWithinMs: number): AppOptions => ({
  overrides: {
    replyWithinMs,
    tools: (box) => {
      const begun = async () => {
        clock.calls++
        await clock.answers
        if (clock.refuses) fail('conflict', clock.refuses, { reason: 'wrong_state' })
      }
      const tools = new Map(box.tools)
      Object.defineProperty(tools, 'get', {
        value: (name: string) =>
          name === NAME
            ? { ...box.tools.get(NAME)!, class: clock.class, way: clock.way }
            : box.tools.get(name),
      })
      return changed(box, {
        tools,
        asks: () => [],
        async decide(...given) {
          await begun()
          return {
            ...(await box.decide(...given)),
            effects: { audit: { operation: 'test.clock' } },
          }
        },
        async read(...given) {
          await begun()
          return box.read(...given)
        },
      })
    },
  },
})
interface Called {
  name?: string
  body?: unknown
  by?: string
  once?: string
}

export const call = (
  { app: at, key }: Surface,
  { name = NAME, body = {}, by = key, once }: Called = {},
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<Reply<any>> =>
  at.send('POST', `/api/v1/actions/${name}`, {
    key: by,
    body,
    headers: once === undefined ? {} : { 'idempotency-key': once },
  })

/** Runs a test in a new workspace of this app, in which the clock is a tool of this class. */
export const asClass =
  (app: TestApp) => async (of: Tool['class'], run: (surface: Surface) => Promise<void>) => {
    Object.assign(clock, {
      class: of,
      way: of === 'outside_read' ? 'read' : 'command',
      calls: 0,
      refuses: undefined,
    })
    clock.answers = Promise.resolve()
    const surface = await newSurface(app)
    try {
      await run(surface)
    } finally {
      expect(await brokenInvariants(app.owner)).toEqual([])
      Object.assign(clock, { class: 'read', way: 'read' })
    }
  }

// biome-ignore lint/suspicious/noExplicitAny: an error of any code
export const refused = ({ status, body }: Reply<any>) => [status, body.error?.code]
