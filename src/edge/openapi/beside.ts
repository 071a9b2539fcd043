/** The paths that are served besides the operations of the contract, as OpenAPI describes them. */
import type { TSchema } from '@sinclair/typebox'
import { devicePaths } from './device.ts'
import { sharedFilePaths } from './files.ts'
import { inboundPaths } from './inbound.ts'
import { mcpPaths } from './mcp.ts'
import { publicPaths } from './public.ts'

/** `show`: converts a schema to its form in the document. */
export const besidePaths = (show: (schema: TSchema) => object) => ({
  ...publicPaths(show),
  ...devicePaths,
  ...inboundPaths,
  ...sharedFilePaths,
  ...mcpPaths,
})
