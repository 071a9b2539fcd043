/** People paste the examples of `--help`: each is split as a shell splits it, and must be valid. */
import { describe, expect, test } from 'bun:test'
import { inputFromArguments } from '#cli/argv'
import { groups } from '#cli/catalogue'
import { examplesOf } from '#cli/example'
import { splitLine } from '#cli/line'
import { pathParams } from '#contract/op'
import { validate } from '#ops/engine/validate'
import { useSharedApp } from '#test/support/use'

const commands = groups.flatMap((group) => group.commands)
const named = commands.map((command) => [`${command.group} ${command.name}`, command] as const)

test.each(named)('examples of %s are valid inputs', async (_, { operation }) => {
  for (const example of examplesOf(operation)) {
    const input = await inputFromArguments(operation, splitLine(example))
    expect(() => validate(operation.input, input)).not.toThrow()
  }
})

describe('on a new workspace', () => {
  const app = useSharedApp()

  const selfContained = [
    'rules',
    'experiments',
    'audits',
    'targets',
    'products',
    'learnings',
    'reports',
  ]
  const creating = named.filter(
    ([, { group, name }]) => name === 'create' && selfContained.includes(group),
  )

  test.each(creating)('an example of %s creates its record', async (_, { operation }) => {
    expect(pathParams(operation.path)).toEqual([])
    const [example = ''] = examplesOf(operation).reverse()
    const body = await inputFromArguments(operation, splitLine(example))
    const { status } = await app.send(operation.method, operation.path, { body })
    expect(status).toBe(201)
  })

  test('the example of channels update changes the rules and the cadence', async () => {
    const { channels } = (await app.send('GET', 'overview')).body.overview
    const { operation } = commands.find(
      ({ group, name }) => group === 'channels' && name === 'update',
    )!
    const { id: _, ...body } = await inputFromArguments(
      operation,
      splitLine(examplesOf(operation)[0]!),
    )
    const { channel } = (await app.send('PUT', `channels/${channels[0].id}`, { body })).body
    expect(channel).toMatchObject({
      format_rules: { max_length: 240 },
      cadence: { days: ['tue', 'thu'], times: ['09:00', '17:30'] },
    })
  })
})
