/** What a session with a server must withstand, in one suite that runs over each transport. */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { type McpDesk, useTrial } from '#test/support/mcp/desk'
import { askingCases } from './mcp-server/asking.ts'
import { brokenOffCases } from './mcp-server/broken-off.ts'
import { excessiveCases } from './mcp-server/excessive.ts'
import { honestCases } from './mcp-server/honest.ts'
import { lyingCases } from './mcp-server/lying.ts'
import { silentCases } from './mcp-server/silent.ts'

export const mcpCases = (name: string, desk: McpDesk): void => {
  const trial = useTrial(name, desk)
  const cases = [honestCases, askingCases, silentCases, brokenOffCases, excessiveCases, lyingCases]
  for (const declare of cases) declare(trial)

  test(`${name}: a session that is closed twice is closed`, async () => {
    const server = await trial.open()
    await server.close()
    await server.close()
    await eventually(
      () => desk.fake.sockets.size,
      (size) => size === 0,
    )
    expect(desk.fake.sockets.size).toBe(0)
  })
}
