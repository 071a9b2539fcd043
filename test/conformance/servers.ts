/**
 * The tools, resources and prompts that the conformance suites expect, served by the transport,
 * sessions and checks of Tendril.
 */
import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'
import type { ServerFactory, ServerSettings } from '#edge/mcp/server'
import { askingAgain, contextPrompt, states } from './asking-again.ts'
import { PNG, tools as plainTools } from './tools.ts'

const tools = { ...plainTools, ...askingAgain }

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

const read = (uri: string): ReadResourceResult['contents'][number] | undefined => {
  if (uri === 'test://static-text')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG }
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'watched' }
  const [, id] = TEMPLATE.exec(uri) ?? []
  if (id === undefined) return undefined
  return {
    uri,
    mimeType: 'application/json',
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }
}

const resources = ['test://static-text', 'test://static-binary', 'test://watched-resource'].map(
  (uri) => ({
    uri,
    name: uri.slice('test://'.length),
    description: 'For the conformance suites',
  }),
)

const user = (content: GetPromptResult['messages'][number]['content']) => ({
  role: 'user' as const,
  content,
})
const says = (text: string) => user({ type: 'text', text })

interface PromptFixture extends Omit<Prompt, 'name'> {
  messages(args: Record<string, string>): GetPromptResult['messages']
}

const prompts: Record<string, PromptFixture> = {
  test_simple_prompt: {
    description: 'Plain',
    messages: () => [says('This is a simple prompt for testing.')],
  },
  test_prompt_with_arguments: {
    description: 'With arguments',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: 'Any text', required: true })),
    messages: ({ arg1, arg2 }) => [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: 'With a resource',
    arguments: [{ name: 'resourceUri', description: 'Which one', required: true }],
    messages: ({ resourceUri = '' }) => [
      user({
        type: 'resource',
        resource: {
          uri: resourceUri,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      says('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: {
    description: 'With a picture',
    messages: () => [
      user({ type: 'image', data: PNG, mimeType: 'image/png' }),
      says('Please analyze the image above.'),
    ],
  },
}

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
}

const installTools = (server: Server, { within }: ServerSettings): void => {
  server.setRequestHandler('tools/list', (_, ctx) =>
    within(ctx, async () => ({
      tools: Object.entries(tools).map(([name, { description, input }]) => ({
        name,
        description,
        inputSchema: (input ?? { type: 'object' }) as { type: 'object' },
      })),
    })),
  )
  server.setRequestHandler('tools/call', ({ params }, ctx) =>
    within(ctx, async () => {
      const tool = tools[params.name]
      if (!tool)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
      return await tool.run(ctx, params.arguments ?? {})
    }),
  )
}

const installResources = (server: Server, { within }: ServerSettings): void => {
  server.setRequestHandler('resources/list', (_, ctx) => within(ctx, async () => ({ resources })))
  server.setRequestHandler('resources/templates/list', (_, ctx) =>
    within(ctx, async () => ({
      resourceTemplates: [
        { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'By id' },
      ],
    })),
  )
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
    within(ctx, async () => {
      const content = read(uri)
      if (!content) throw new ResourceNotFoundError(uri)
      return { contents: [content] }
    }),
  )
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const installPrompts = (server: Server, { within }: ServerSettings): void => {
  server.setRequestHandler('prompts/list', (_, ctx) =>
    within(ctx, async () => ({
      prompts: [
        ...Object.entries(prompts).map(([name, { messages: _, ...prompt }]) => ({
          name,
          ...prompt,
        })),
        { name: contextPrompt.name, description: 'Asks for its context' },
      ],
    })),
  )
  server.setRequestHandler('prompts/get', ({ params }, ctx) =>
    within(ctx, async () => {
      if (params.name === contextPrompt.name) return contextPrompt.get(ctx)
      const prompt = prompts[params.name]
      if (!prompt)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`)
      return { messages: prompt.messages(params.arguments ?? {}) }
    }),
  )
  server.setRequestHandler('completion/complete', (_, ctx) =>
    within(ctx, async () => ({ completion: { values: ['paris', 'park'] } })),
  )
}

export const conformanceServers: ServerFactory = {
  create(settings) {
    const server = new Server(
      { name: 'conformance', version: '1' },
      {
        capabilities,
        jsonSchemaValidator: new AjvJsonSchemaValidator(),
        requestState: { verify: states.verify },
      },
    )
    installTools(server, settings)
    installResources(server, settings)
    installPrompts(server, settings)
    return server
  },
}
