/** The paths that are served beside the operations of the contract, as OpenAPI describes them. */
import type { TSchema } from '@sinclair/typebox'
import { devicePaths } from './openapi-device.ts'
import { sharedFilePaths } from './openapi-files.ts'
import { inboundPaths } from './openapi-inbound.ts'
import { mcpPaths } from './openapi-mcp.ts'
import { publicPaths } from './openapi-public.ts'

/** `show`: converts a schema to its form in the document. */
export const besidePaths = (show: (schema: TSchema) => object) => ({
  ...publicPaths(show),
  ...devicePaths,
  ...inboundPaths,
  ...sharedFilePaths,
  ...mcpPaths,
})
