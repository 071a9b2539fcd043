/** The tools that the conformance suites call; the suites' scenarios say what each must do. */
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** One red pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
/** A header without sound. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const STEP_MS = 50
const RECONNECT_MS = 100

export interface Fixture {
  description: string
  input?: object
  run(
    ctx: ServerContext,
    args: Record<string, unknown>,
  ): Promise<CallToolResult | InputRequiredResult> | CallToolResult | InputRequiredResult
}

export const text = (value: string): CallToolResult => ({
  content: [{ type: 'text', text: value }],
})
export const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})

const plain: Record<string, Fixture> = {
  test_simple_text: {
    description: 'Answers with text',
    run: () => text('This is a simple text response for testing.'),
  },
  test_image_content: {
    description: 'Answers with a picture',
    run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    description: 'Answers with sound',
    run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Answers with a resource',
    run: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Answers with several kinds of content',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_error_handling: {
    description: 'Fails',
    run: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
}

const speaking: Record<string, Fixture> = {
  test_tool_with_logging: {
    description: 'Logs while it runs',
    async run(ctx) {
      await ctx.mcpReq.log('info', 'Tool execution started')
      await Bun.sleep(STEP_MS)
      await ctx.mcpReq.log('info', 'Tool processing data')
      await Bun.sleep(STEP_MS)
      await ctx.mcpReq.log('info', 'Tool execution completed')
      return text('Tool with logging executed successfully')
    },
  },
  test_logging_tool: {
    description: 'Logs once',
    async run(ctx) {
      await ctx.mcpReq.log('info', 'a line')
      return text('logged')
    },
  },
  test_tool_with_progress: {
    description: 'Reports progress while it runs',
    async run(ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        await Bun.sleep(STEP_MS)
      }
      return text('done')
    },
  },
  test_reconnection: {
    description: 'Closes its stream before it answers',
    async run(ctx) {
      ctx.http?.closeSSE?.()
      await Bun.sleep(RECONNECT_MS)
      return text('Reconnection test completed successfully')
    },
  },
}

/** Sends on the stream of the same request, as the other one may not be open yet. */
const elicited = async (
  ctx: ServerContext,
  message: string,
  requestedSchema: object,
): Promise<CallToolResult> => {
  const params = { mode: 'form' as const, message, requestedSchema: requestedSchema as never }
  const { action, content } = await ctx.mcpReq.send({ method: 'elicitation/create', params })
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
}

const choices = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [
      { const: 'value1', title: 'First Option' },
      { const: 'value2', title: 'Second Option' },
      { const: 'value3', title: 'Third Option' },
    ],
  },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: {
    type: 'array',
    items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  },
  titledMulti: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'value1', title: 'First Choice' },
        { const: 'value2', title: 'Second Choice' },
        { const: 'value3', title: 'Third Choice' },
      ],
    },
  },
}

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}

const asking: Record<string, Fixture> = {
  test_sampling: {
    description: 'Asks the client for a completion',
    input: object({ prompt: { type: 'string' } }, ['prompt']),
    async run(ctx, { prompt }) {
      const params = {
        messages: [
          { role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } },
        ],
        maxTokens: 100,
      }
      const { content } = await ctx.mcpReq.send({ method: 'sampling/createMessage', params })
      const [first] = Array.isArray(content) ? content : [content]
      return text(`LLM response: ${first?.type === 'text' ? first.text : ''}`)
    },
  },
  test_elicitation: {
    description: 'Asks the user for something',
    input: object({ message: { type: 'string' } }, ['message']),
    run: (ctx, { message }) =>
      elicited(
        ctx,
        String(message),
        object({ username: { type: 'string' }, email: { type: 'string' } }, ['username', 'email']),
      ),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with defaults',
    run: (ctx) => elicited(ctx, 'Please look at the defaults', object(defaults)),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with choices',
    run: (ctx) => elicited(ctx, 'Please choose', object(choices)),
  },
  test_streaming_elicitation: {
    description: 'Asks in the middle of a call',
    run: (ctx) =>
      ctx.mcpReq.inputResponses
        ? text('answered')
        : inputRequired({
            inputRequests: {
              name: {
                method: 'elicitation/create',
                params: { message: 'Who?', requestedSchema: object({}) as never },
              },
            },
          }),
  },
  test_missing_capability: {
    description: 'Needs a client that can sample',
    run() {
      throw new ProtocolError(-32_021, 'the client has not declared sampling', {
        requiredCapabilities: { sampling: {} },
      })
    },
  },
}

const ADDRESS = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}

const schemas: Record<string, Fixture> = {
  json_schema_2020_12_tool: {
    description: 'Has a schema with everything that JSON Schema 2020-12 can say',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: ADDRESS },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: () => text('called'),
  },
}

export const tools: Record<string, Fixture> = { ...plain, ...speaking, ...asking, ...schemas }
