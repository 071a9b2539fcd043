/** The public documents, as far as the tests read them. */

interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
}

interface DescribedOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: { apiKey: string[] }[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: {
    content: Record<string, { schema: { properties: Record<string, object>; required?: string[] } }>
  }
  responses: Record<string, { description: string; content: Record<string, unknown> }>
}

export interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, DescribedOperation>>
  tags: { name: string; description: string }[]
  components: { parameters: Record<string, Parameter>; schemas: Record<string, { title: string }> }
}

export interface Capabilities {
  spec: string
  endpoints: {
    id: string
    method: string
    path: string
    scope: string
    also?: string
    tool: string | null
    errors: string[]
  }[]
  scopes: { scope: string }[]
  errors: { code: string; status: number; kind: string; summary?: string }[]
  tools: {
    name: string
    operation: string | null
    toolset: string
    module?: string
    scope: string
    also?: string
  }[]
  events: { type: string }[]
}
