/** The settings: a key that connects a client, the webhook, and a linked sender. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Webhook } from 'standardwebhooks'
import { type DevChannel, postDev } from '#test/support/channels/dev-posts'
import type { Desk } from './desk.ts'
import { requireThat, type World } from './world.ts'

/** A text that is shown to be taken along, by its title. */
const shownAs = (desk: Desk, title: string): Promise<string> =>
  desk.read<string>(
    `[...document.querySelectorAll('.copied')]
      .find((one) => one.querySelector('h4').innerText === ${JSON.stringify(title)})
      ?.querySelector('pre code').innerText ?? ''`,
    (text) => text !== '',
  )

/** Takes the configuration as a person does: by its button, out of the clipboard. */
const copiedConfiguration = async (desk: Desk): Promise<string> => {
  await desk.use('Copy: MCP configuration')
  await desk.sees('Copied: MCP configuration')
  const copied = await desk.read<string>('navigator.clipboard.readText()')
  requireThat(copied === (await shownAs(desk, 'MCP configuration')), 'what is shown is copied')
  return copied
}

const useConfiguration = async (text: string): Promise<{ tools: number; said: string }> => {
  const { url, headers } = JSON.parse(text).mcpServers.tendril
  const client = new Client({ name: 'walk', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport as Parameters<Client['connect']>[0])
  const { tools } = await client.listTools()
  const said = await client.callTool({ name: 'growth_list_queue', arguments: { limit: 1 } })
  await client.close()
  requireThat(said.isError !== true, `the tool answers: ${JSON.stringify(said)}`)
  return { tools: tools.length, said: JSON.stringify(said).slice(0, 80) }
}

export const makeKey = async ({ desk, log }: World): Promise<void> => {
  await desk.press('g', ',')
  await desk.waitForPath(/settings/)
  await desk.use('Make a key')
  await desk.type('My client')
  await desk.use('Make the key')
  await desk.sees(/Copy it now/)
  const { tools } = await useConfiguration(await copiedConfiguration(desk))
  log(`an MCP client connected with what the new key shows: ${tools} tools, one of them called`)
  await desk.use('I have copied it')
}

const signedBy = (secret: string, request: World['receiver']['requests'][number]): boolean => {
  try {
    new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** Sends a test, sees it delivered, and returns what the receiver got. */
const test = async ({ desk, receiver }: World) => {
  const { length } = receiver.requests
  await desk.use('Send a test')
  const all = await receiver.received(length + 1)
  await desk.read<string>(`document.querySelector('.test-outcome')?.innerText ?? ''`, (outcome) =>
    outcome.includes('Delivered'),
  )
  return all.filter(({ body }) => body.includes('webhook.test')).at(-1)!
}

export const setWebhook = async (world: World): Promise<void> => {
  const { desk, log, receiver } = world
  await desk.goTo('settings webhook')
  await desk.tabTo('Address')
  await desk.type(receiver.url)
  await desk.press('Enter')
  const first = await shownAs(desk, 'Secret')
  requireThat(signedBy(first, await test(world)), 'the test is signed with the secret')
  await desk.press('Home')
  await desk.use('Rotate the secret')
  await desk.sees('Rotate the signing secret?')
  await desk.use('Rotate')
  await desk.sees(/signed with both secrets/)
  const second = await shownAs(desk, 'Secret')
  const both = await test(world)
  requireThat(
    first !== second && signedBy(first, both) && signedBy(second, both),
    'after the rotation both secrets sign',
  )
  log('the webhook was set, tested and rotated; its receiver verified each delivery')
}

export const linkSender = async (world: World, channel: DevChannel): Promise<void> => {
  const { binary, desk, log } = world
  await desk.goTo('settings channels')
  await desk.use('Link your sender')
  const code = await shownAs(desk, 'Code')
  await postDev(binary.url, channel, { sender: 'olga', text: code })
  await desk.sees('Linked to you')
  await desk.sees('is you, since')
  log('a sender was linked by its code, which the page noticed by itself')
}
