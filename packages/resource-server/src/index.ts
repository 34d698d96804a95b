export { expressMetadata, expressProtect } from './express.ts';
export { fastifyCaller, fastifyMetadata, fastifyProtect } from './fastify.ts';
export { honoMetadata, honoProtect } from './hono.ts';
export type { IntrospectedToken } from './introspection.ts';
export {
  type Caller,
  createResourceServer,
  type Refusal,
  type Requirement,
  type ResourceServer,
  type ResourceServerOptions,
} from './resource-server.ts';
export { protect, serveMetadata } from './web.ts';
